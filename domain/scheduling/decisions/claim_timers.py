"""Claims by age: recipes that have waited long claim busy systems, and such claims run out (design 6.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple

from domain.access.submit_rights import SubmitRights
from domain.contention.weights import ticks
from domain.recipe.claim import OVER
from domain.recipe.events import RecipeClaimed
from domain.recipe.state import Recipe
from domain.recipe_set.ending import end_claim
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.choice import choices
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.room_order import recipes_with_room
from domain.scheduling.decisions.system_order import first_in_turn
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import TIMER, Trigger


class OrderKey(NamedTuple):
    """The properties of a system that decide its order of recipes: systems with equal ones have one order."""

    signature: int
    rights: SubmitRights
    lab_controller: str


def claim_by_age(partition: Partition, now: datetime) -> Iterator[Decision]:
    """Yield the claims of recipes that have waited `claims.after_ticks`, each to a system where it is first.

    Of several systems, in labs that could complete the set, the recipe claims the first by design 5.5.
    Recipes that force a system claim without waiting. While a trigger is unanswered nothing is claimed,
    because the answer may change who is first.
    """
    after_ticks = partition.configuration.claims.after_ticks
    if after_ticks is None or partition.triggers:
        return
    claimable = _claimable_by_first_recipe(partition)
    for host in sorted(map(partition.sets.recipes.__getitem__, claimable), key=partition.sets.rank):
        submitted_at = partition.sets.sets[host.recipe_set_id].submitted_at
        if submitted_at is None or _ticks(partition, submitted_at, now) < after_ticks:
            continue
        others = claimable[host.recipe_id] & ~_held_by_set(partition, host)
        systems = without_hopeless_labs(partition, host, others)
        if not systems:
            continue
        draft = _draft(partition, host)
        number = next(choices(partition, host, systems, draft.trigger.cause))
        # The configuration, and the lab of the system, may change before the commit.
        system = partition.system(number)
        draft.depend_on((partition.identity.subject, f"lab-controller/{system.lab_controller}"))
        draft.add([(host.subject, RecipeClaimed(system=system.fqdn, forced=False))])
        yield draft.decision()


def end_by_age(partition: Partition, now: datetime) -> Iterator[Decision]:
    """Yield the ends of claims that are `claims.for_ticks` old. Claims of forced systems do not run out."""
    for_ticks = partition.configuration.claims.for_ticks
    for host in map(partition.sets.recipes.__getitem__, sorted(partition.sets.claims.of.values())):
        claim = host.claim
        if claim is None or claim.forced or claim.since is None:
            continue
        if _ticks(partition, claim.since, now) >= for_ticks:
            draft = _draft(partition, host)
            draft.depend_on((partition.identity.subject,))
            draft.add(end_claim(host, OVER))
            yield draft.decision()


def _claimable_by_first_recipe(partition: Partition) -> dict[int, int]:
    """Return the busy systems without a claim by the recipe that is first in their order, if it claims none.

    Systems that fit the same filters, and that rank recipes alike, have one order.
    """
    found: dict[int, int] = {}
    for systems in _busy_systems_by_order(partition).values():
        system = partition.system(systems[0])
        host = first_in_turn(partition, partial(recipes_with_room, partition, system))
        if host is not None and host.claim is None and partition.sets.index.key(host).forced is None:
            for number in systems:
                found[host.recipe_id] = found.get(host.recipe_id, 0) | 1 << number
    return found


def _held_by_set(partition: Partition, host: Recipe) -> int:
    """Return the systems that the set of a recipe has: they come free only if the set loses them."""
    held = (each.system for each in partition.sets.hosts(host.recipe_set_id))
    return union(1 << partition.labs.number(fqdn) for fqdn in held if fqdn is not None)


def _busy_systems_by_order(partition: Partition) -> dict[OrderKey, list[int]]:
    """Return the busy systems that recipes may have later without force and none claims, by their order."""
    busy = 0
    for recipe_id in partition.sets.placed:
        host = partition.sets.recipes[recipe_id]
        if not host.is_guest and host.system is not None:
            busy |= 1 << partition.labs.number(host.system)
    found: defaultdict[OrderKey, list[int]] = defaultdict(list)
    systems = busy & partition.available.usable(forced=False) & ~partition.sets.claims.systems
    for number, signature in partition.filters.signatures_of(systems, forced_only=False):
        rights = partition.labs.access.of(number)
        found[OrderKey(signature, rights, partition.system(number).lab_controller)].append(number)
    return found


def _ticks(partition: Partition, since: datetime, now: datetime) -> int:
    return ticks(since, now, partition.configuration.weights.tick_milliseconds)


def _draft(partition: Partition, host: Recipe) -> Draft:
    return Draft(partition, Trigger(partition.position, TIMER, f"claim/{host.recipe_id}"))
