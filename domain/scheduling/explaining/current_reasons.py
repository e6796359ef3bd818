"""The current reasons why recipes wait, of one recipe or of the whole queue.

Recipes with equal demands whose sets are in the same state wait for the same reason, so the reason is found
once for each such group.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from domain.intake_states import STOPPED
from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.tree_locations import tree_label
from domain.scheduling.explaining.room_reasons import room_reasons
from domain.scheduling.supply import waiting_reasons as codes
from domain.scheduling.supply.rules import why_none
from domain.scheduling.world.lab_moves import NO_LAB
from domain.scheduling.world.partition import Partition


@dataclass(frozen=True)
class CurrentReason:
    """The code of a reason, from `waiting_reasons`, and a sentence about the recipe."""

    code: str
    text: str


def unplaced_hosts(partition: Partition) -> list[Recipe]:
    """Return the unplaced recipes of a partition, without guests."""
    recipes = partition.sets.recipes.values()
    return [each for each in recipes if each.state in UNPLACED and each.host_recipe_id is None]


def systems_named(partition: Partition, names: Iterable[str]) -> int:
    """Return the systems with these names. A partition of the past may lack some that are hidden now."""
    return union(1 << partition.labs.number(fqdn) for fqdn in sorted(names) if fqdn in partition.systems)


def current_reasons(partition: Partition, hosts: Sequence[Recipe], unknown: int = 0) -> list[CurrentReason]:
    """Return the main reason why each of these unplaced recipes waits, in their order.

    `unknown` is the bitmap of the systems that do not count, because the reader may not know them. Limits and
    the room that is kept under them are those of the moment at which the partition weighs recipes.
    """
    if partition.state == STOPPED:
        return [_reason(codes.PARTITION_STOPPED)] * len(hosts)
    held_back, no_room = partition.sets.admission.held_back, room_reasons(partition, hosts)
    unknown |= partition.labs.lab_controller[NO_LAB]
    found: dict[Hashable, CurrentReason] = {}
    reasons = []
    for host in hosts:
        if held := held_back.get(host.recipe_set_id):
            reasons.append(CurrentReason(held.row, held.reason))
        elif lack := no_room.get(host.recipe_id):
            reasons.append(CurrentReason(*lack))
        else:
            group = group_of(partition, host)
            if group not in found:
                found[group] = _about_systems(partition, host, unknown)
            reasons.append(found[group])
    return reasons


def group_of(partition: Partition, host: Recipe) -> Hashable:
    """Return a key that is equal for recipes which wait for the same systems, in sets in the same state."""
    sets = partition.sets
    demand = sets.index.demand(host)
    if sets.is_single(host.recipe_set_id):
        return demand
    members = sets.hosts(host.recipe_set_id)
    if sets.holds_nothing(sets.sets[host.recipe_set_id]):
        return demand, tuple([sets.index.demand(member) for member in members])
    # Few sets hold something, and each has systems of its own.
    return demand, host.recipe_set_id


def lab_of_set(partition: Partition, host: Recipe) -> int:
    """Return the systems of the lab to which the set of a recipe is bound, all systems without one."""
    return -1 if host.lab_controller is None else partition.labs.lab_controller[host.lab_controller]


def _about_systems(partition: Partition, host: Recipe, unknown: int) -> CurrentReason:
    key = partition.sets.index.key(host)
    tree_id = partition.absent_trees.first_absent(key.tree_ids)
    if tree_id is not None:
        return _reason(codes.TREE_AWAY, tree_label(partition, tree_id))
    viable, of_lab = partition.viable(host) & ~unknown, lab_of_set(partition, host)
    if viable:
        usable = partition.usable(host) & of_lab & ~unknown
        if usable:
            return _about_usable(partition, host, usable)
        return _about_not_usable(partition, viable & of_lab or viable, forced=key.forced is not None)
    if partition.entitled(host) & ~unknown:
        return _reason(codes.ALL_LENT)
    if partition.filters.fitting(key) & ~unknown:
        return _reason(codes.NO_ACCESS)
    return CurrentReason(codes.NO_SYSTEM, why_none(partition.labs, key, ~unknown))


def _about_usable(partition: Partition, host: Recipe, usable: int) -> CurrentReason:
    """Return why a recipe has none of its usable systems, which are in the lab of its set."""
    usable = without_hopeless_labs(partition, host, usable)
    if not usable:
        return _reason(codes.SET_INCOMPLETE)
    free = usable & (partition.idle(host) | partition.available.pending())
    if not free:
        return _reason(codes.NO_IDLE_SYSTEM)
    safe: Iterator[bool] = (is_safe(partition, host, number) for number in numbers_in(free))
    return _reason(codes.TO_BE_ASKED if any(safe) else codes.UNSAFE)


def _about_not_usable(partition: Partition, viable: int, *, forced: bool) -> CurrentReason:
    """Return why no viable system is usable. A recipe that forces a system may have a broken one."""
    not_broken = viable if forced else viable & ~partition.available.broken
    if not not_broken:
        return _reason(codes.ALL_BROKEN)
    return _reason(codes.NONE_USABLE if not_broken & ~partition.in_silent_labs() else codes.ALL_SILENT)


def _reason(code: str, more: str = "") -> CurrentReason:
    sentence = codes.SENTENCES[code]
    return CurrentReason(code, f"{sentence}: {more}" if more else sentence)
