"""Claims: recipes that force a busy system claim it, and claims end with what they are for (decision 37).

Of several recipes that force a system, the first one by priority and submission claims it. It ends the claim
of a recipe that does not force the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from domain.events import Decided, split_subject
from domain.recipe.claim import ENDED, NO_ROOM, SYSTEM_AWAY
from domain.recipe.events import RecipeClaimed, RecipeClaimEnded
from domain.recipe.state import Recipe
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.kept_room import room_kept_for
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import CLAIMS, Trigger


class ClaimChange(NamedTuple):
    """The events that begin or end claims to a system, and the trigger that they answer."""

    trigger: Trigger
    events: Decided


def claim_changes(partition: Partition) -> Iterator[ClaimChange]:
    """Yield the changes by claims triggers of the batch; the caller applies each before the next one."""
    for trigger in partition.triggers.of_batch(CLAIMS):
        for fqdn in _systems_of(partition, trigger.name):
            while events := _changes_of(partition, fqdn):
                yield ClaimChange(trigger, events)


def change_claims(partition: Partition, change: ClaimChange) -> Decision:
    draft = Draft(partition, change.trigger)
    draft.add(change.events)
    return draft.decision()


def end_claim(host: Recipe, reason: str) -> tuple[str, RecipeClaimEnded]:
    """Return the event that ends the claim of a recipe, which has one."""
    assert host.claim is not None, f"{host.subject} has a claim"
    return host.subject, RecipeClaimEnded(system=host.claim.system, reason=reason)


def is_within_reach(partition: Partition, host: Recipe, fqdn: str) -> bool:
    """Return whether a recipe may have a system, now or when it comes free, in the lab of its set."""
    system = partition.systems.get(fqdn)
    if system is None or host.lab_controller not in (None, system.lab_controller):
        return False
    return bool(partition.usable(host) >> partition.labs.number(fqdn) & 1)


def _systems_of(partition: Partition, subject: str) -> list[str]:
    """Return the claimed or forced systems that the subject of a trigger names, by name."""
    kind, name = split_subject(subject)
    if kind == "system":
        return [name]
    if kind == "recipe":
        host = partition.sets.recipes.get(int(name))
        return [] if host is None else _systems_of_recipe(partition, host)
    # What remains of systems that have left is in no lab.
    systems = partition.systems
    found = [each for each in partition.sets.claims.systems() if each in systems]
    return sorted(each for each in found if _is_in_or_gone(partition, each, name))


def _is_in_or_gone(partition: Partition, fqdn: str, lab_controller: str) -> bool:
    of_system = partition.systems[fqdn].lab_controller
    return of_system == lab_controller or not partition.has_lab(of_system)


def _systems_of_recipe(partition: Partition, host: Recipe) -> list[str]:
    claimed = None if host.claim is None else host.claim.system
    forced = partition.sets.index.key(host).forced
    return [each for each in dict.fromkeys((claimed, forced)) if each is not None]


def _changes_of(partition: Partition, fqdn: str) -> Decided:
    """Return the next events that begin or end claims to a system, none if its claims are in order."""
    sets = partition.sets
    claimant = sets.recipes[sets.claims.of[fqdn]] if fqdn in sets.claims.of else None
    if claimant is not None and not is_within_reach(partition, claimant, fqdn):
        return [end_claim(claimant, SYSTEM_AWAY)]
    host = _first_that_forces(partition, fqdn)
    if host is None or host is claimant:
        return []
    if claimant is not None and claimant.claim is not None and claimant.claim.forced:
        return []
    ended = [] if claimant is None else [end_claim(claimant, ENDED)]
    # Its requirements may have changed since it claimed another system.
    ended += [] if host.claim is None else [end_claim(host, SYSTEM_AWAY)]
    return [*ended, (host.subject, RecipeClaimed(system=fqdn, forced=True))]


def _first_that_forces(partition: Partition, fqdn: str) -> Recipe | None:
    """Return the first recipe that forces a system, if the system is busy and the recipe may wait for it."""
    system = partition.systems.get(fqdn)
    forcing = partition.sets.claims.forcing.get(fqdn)
    if system is None or system.recipe_id is None or not forcing:
        return None
    sets = partition.sets
    waiting = (sets.recipes[each] for each in forcing)
    # The line of recipes without limits and queues is "".
    in_line = (host for host in waiting if sets.places.line_of(host) is not None)
    eligible = [host for host in in_line if is_within_reach(partition, host, fqdn)]
    return min(eligible, key=sets.rank, default=None)


# A system that asks its claimant


def claimant_for_system(partition: Partition, fqdn: str) -> Recipe | None:
    """Return the recipe that claims a free system if its set has room and the grant is safe."""
    host = claimant_of(partition, fqdn)
    if host is None or not _has_room(partition, host):
        return None
    return host if is_safe(partition, host, partition.labs.number(fqdn)) else None


def claimant_of(partition: Partition, fqdn: str) -> Recipe | None:
    """Return the recipe that claims a system within its reach, None if there is none."""
    recipe_id = partition.sets.claims.of.get(fqdn)
    if recipe_id is None:
        return None
    host = partition.sets.recipes[recipe_id]
    return host if is_within_reach(partition, host, fqdn) else None


def end_without_room(draft: Draft, fqdn: str) -> None:
    """Add the end of the claim to a free system if its claimant may have no first system now."""
    claimant = claimant_of(draft.partition, fqdn)
    if claimant is not None and not _has_room(draft.partition, claimant):
        draft.add([end_claim(claimant, NO_ROOM)])


def _has_room(partition: Partition, host: Recipe) -> bool:
    """Return whether no row of admission keeps a recipe from a system, nor a limit from its first one."""
    sets = partition.sets
    is_in_line = sets.places.line_of(host) is not None
    is_limited = host.recipe_set_id not in sets.rooms.charged and sets.classes.lacks_room(host.recipe_set_id)
    return is_in_line and not is_limited and room_kept_for(partition, host) is None
