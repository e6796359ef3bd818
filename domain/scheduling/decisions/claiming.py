"""Claims: recipes that force a busy system claim it, and claims end when their reason does (design 6.3).

Of several recipes that force a system, the first one by priority and submission claims it. It ends the claim
of a recipe that does not force the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from domain.events import Decided, split_subject
from domain.recipe.claim import ENDED, NO_ROOM, SYSTEM_AWAY
from domain.recipe.events import RecipeClaimed
from domain.recipe.state import Recipe
from domain.recipe_set.ending import end_claim
from domain.scheduling.bitsets.bitmaps import numbers_in
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
    # A later trigger of the same name asks the same systems.
    first = {trigger.name: trigger for trigger in reversed(partition.triggers.of_batch(CLAIMS))}
    for trigger in sorted(first.values()):
        for fqdn in _systems_of(partition, trigger.name):
            while events := _changes_of(partition, fqdn):
                yield ClaimChange(trigger, events)


def change_claims(partition: Partition, change: ClaimChange) -> Decision:
    draft = Draft(partition, change.trigger)
    draft.add(change.events)
    return draft.decision()


def is_within_reach(partition: Partition, host: Recipe, fqdn: str) -> bool:
    """Return whether a recipe may have a system, now or when it comes free, in the lab of its set."""
    system = partition.systems.get(fqdn)
    if system is None or host.lab_controller not in (None, system.lab_controller):
        return False
    return bool(partition.usable(host) >> partition.labs.number(fqdn) & 1)


def _is_claim_valid(partition: Partition, claimant: Recipe) -> bool:
    """Return whether a claimant may have the system that it claims, and forces it as it did."""
    claim, forced = claimant.claim, partition.sets.index.key(claimant).forced
    if claim is None:
        return False
    is_forced = forced is not None and forced.casefold() == claim.system.casefold()
    return claim.forced == is_forced and is_within_reach(partition, claimant, claim.system)


def _systems_of(partition: Partition, subject: str) -> list[str]:
    """Return the claimed or forced systems that the subject of a trigger names, by name."""
    kind, name = split_subject(subject)
    if kind == "system":
        first = next(iter(partition.sets.claims.forced_by(name)), None)
        alike = [] if first is None else _forced_systems(partition, partition.sets.recipes[first])
        return list(dict.fromkeys((name, *alike)))
    if kind in ("recipe", "recipe-set"):
        recipe = partition.sets.recipes.get(int(name)) if kind == "recipe" else None
        hosts = partition.sets.hosts(int(name)) if kind == "recipe-set" else (recipe,)
        each = (_systems_of_host(partition, host) for host in hosts if host is not None)
        return list(dict.fromkeys(chain.from_iterable(each)))
    # Claims to systems that have left the partition may remain: the trigger of any lab ends them.
    sets = partition.sets
    forcing = (sets.recipes[each] for each in chain.from_iterable(sets.claims.forcing.values()))
    forced = chain.from_iterable(_forced_systems(partition, host) for host in forcing)
    found = dict.fromkeys(chain(sets.claims.of, forced))
    return sorted(each for each in found if _is_in_or_gone(partition, each, name))


def _is_in_or_gone(partition: Partition, fqdn: str, lab_controller: str) -> bool:
    of_system = partition.systems[fqdn].lab_controller
    return of_system == lab_controller or not partition.has_lab(of_system)


def _systems_of_host(partition: Partition, host: Recipe) -> list[str]:
    claimed = None if host.claim is None else host.claim.system
    is_forcing = partition.sets.index.key(host).forced is not None
    forced = _forced_systems(partition, host) if is_forcing else ()
    return [each for each in dict.fromkeys((claimed, *forced)) if each is not None]


def _forced_systems(partition: Partition, host: Recipe) -> list[str]:
    """Return the systems that a recipe forces and may have: several if their names differ in case only."""
    return [partition.labs.names[number] for number in numbers_in(partition.usable(host))]


def _changes_of(partition: Partition, fqdn: str) -> Decided:
    """Return the next events that begin or end claims to a system, none if its claims are in order."""
    sets = partition.sets
    claimant = sets.recipes[sets.claims.of[fqdn]] if fqdn in sets.claims.of else None
    if claimant is not None and not _is_claim_valid(partition, claimant):
        return end_claim(claimant, SYSTEM_AWAY)
    if claimant is not None and claimant.claim is not None and claimant.claim.forced:
        return []
    host = _first_that_forces(partition, fqdn)
    if host is None:
        return []
    ended = [] if claimant is None else end_claim(claimant, ENDED)
    return [*ended, *end_claim(host, SYSTEM_AWAY), (host.subject, RecipeClaimed(system=fqdn, forced=True))]


def _first_that_forces(partition: Partition, fqdn: str) -> Recipe | None:
    """Return the first recipe that forces a system, if the system is busy and the recipe may wait for it."""
    system = partition.systems.get(fqdn)
    if system is None or system.recipe_id is None:
        return None
    sets = partition.sets
    waiting = (sets.recipes[each] for each in sets.claims.forced_by(fqdn))
    return min((host for host in waiting if _may_claim(partition, host, fqdn)), key=sets.rank, default=None)


def _may_claim(partition: Partition, host: Recipe, fqdn: str) -> bool:
    """Return whether a recipe that forces a system may claim it, unless another recipe does."""
    if partition.sets.places.line_of(host) is None or not is_within_reach(partition, host, fqdn):
        return False
    # A change of requirements may have left a claim to a system that the recipe forced before.
    return host.claim is None or host.claim.system == fqdn or not _is_claim_valid(partition, host)


# A system that asks its claimant


def claimant_for_system(partition: Partition, fqdn: str) -> Recipe | None:
    """Return the recipe that claims a free system if its set has room and the grant is safe."""
    host = claimant_of(partition, fqdn)
    if host is None or not has_room(partition, host):
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
    if claimant is not None and not has_room(draft.partition, claimant):
        # A configuration may give room before the commit.
        draft.depend_on((draft.partition.identity.subject,))
        draft.add(end_claim(claimant, NO_ROOM))


def has_room(partition: Partition, host: Recipe) -> bool:
    """Return whether no row of admission keeps a recipe from a system, nor a limit from its first one."""
    sets = partition.sets
    is_in_line = sets.places.line_of(host) is not None
    is_limited = host.recipe_set_id not in sets.rooms.charged and sets.classes.lacks_room(host.recipe_set_id)
    return is_in_line and not is_limited and room_kept_for(partition, host) is None
