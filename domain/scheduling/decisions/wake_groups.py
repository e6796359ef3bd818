"""The search for the first recipe that may have one of a group of idle systems (design section 4.2).

Systems of one access class rank all recipes alike, so the first recipe for all of them follows from the first
recipes of lines. Results of searches are cached, because most grants change them for few queues.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

from domain.access.submit_rights import SubmitRights
from domain.queues.order import Keyed
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.kept_room import room_kept_for
from domain.scheduling.decisions.room_order import grantable_recipes
from domain.scheduling.decisions.system_order import Tier, in_turn, lines_of, tiers_of
from domain.scheduling.demand.order import Place
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.queue_turns import key_among_queues
from domain.scheduling.world.partition import Partition

# To find all filters that fit costs as much as a few searches that each leave out one filter.
MAX_LEFT_OUT: Final = 3


class FirstOfQueue(NamedTuple):
    """The first recipe of a queue that may have a system of a group: its place and its candidates there."""

    place: Place
    systems: int


class BestRecipe(NamedTuple):
    """The first recipe that may have a system of a group: its tier, its place, and its candidates there."""

    tier: int
    place: Place
    systems: int


@dataclass
class LineSearch:
    """A line, the systems of the labs that consider it, and the filters that may still lead to a grant.

    `until` is the rank behind which room is kept from all sets of the line, None if none is kept. Each search
    sets it anew.
    """

    line: str
    of_labs: int
    filters: int
    until: Rank | None = None


@dataclass
class WakeGroup:
    """Idle systems of one access class, the filters that fit any of them, and the searches of their lines.

    `searches` has the lines by tier and queue, once the queue was searched. `first_of_queues` has the first
    recipe, or None, of each such queue; they are valid as long as weights and rooms have these `versions`.
    `left_out` counts the filters that searches have left out one by one since all were last asked at once.
    """

    rights: SubmitRights
    systems: int
    filters: int
    searches: dict[tuple[Tier, str], list[LineSearch]] = field(default_factory=dict)
    first_of_queues: dict[tuple[Tier, str], FirstOfQueue | None] = field(default_factory=dict)
    versions: tuple[int, ...] = ()
    left_out: int = 0


def groups_of(partition: Partition, systems_of_wakes: int) -> Iterator[WakeGroup]:
    """Yield the idle ones of the systems by access class, without classes that no recipe fits."""
    idle = partition.available.idle(forced=True) & systems_of_wakes
    if not idle:
        return
    for rights, of_class in partition.labs.access.each():
        if (systems := idle & of_class) and (filters := _fitting_filters(partition, systems)):
            yield WakeGroup(rights, systems, filters)


def best_recipes(partition: Partition, groups: Sequence[WakeGroup]) -> list[BestRecipe]:
    """Return the first recipe of each group that has one."""
    versions = partition.filters.weighing.version, partition.sets.rooms.version
    for group in groups:
        if group.versions != versions:
            group.first_of_queues.clear()
            group.versions = versions
    found = (_best_recipe(partition, group) for group in groups)
    return [best for best in found if best is not None]


def cached_grantable_recipes(
    partition: Partition, group: WakeGroup, number: int, tier: Tier, queue: str
) -> Iterator[Keyed[Recipe]]:
    """Return the recipes of a queue that a system of the group may go to, in order.

    These are only the cached first one if it may have the system.
    """
    first = _cached_first_of_queue(partition, group, tier, queue)
    if first is None:
        return iter(())
    host = partition.sets.recipes[first.place.rank.recipe_id]
    if first.systems >> number & 1 and is_safe(partition, host, number):
        return iter([(key_among_queues(first.place), host)])
    return grantable_recipes(partition, partition.system(number), tier, queue)


def _best_recipe(partition: Partition, group: WakeGroup) -> BestRecipe | None:
    for number, tier in enumerate(tiers_of(partition)):
        first = next(in_turn(partition, tier, partial(_first_of_queue, partition, group, tier)), None)
        if first is not None:
            return BestRecipe(number, *first[1])
    return None


def _first_of_queue(
    partition: Partition, group: WakeGroup, tier: Tier, queue: str
) -> Iterator[Keyed[FirstOfQueue]]:
    """Yield the first recipe of a queue that may have a system of the group, if any, with its candidates."""
    first = _cached_first_of_queue(partition, group, tier, queue)
    if first is not None:
        yield key_among_queues(first.place), first._replace(systems=first.systems & group.systems)


def _cached_first_of_queue(
    partition: Partition, group: WakeGroup, tier: Tier, queue: str
) -> FirstOfQueue | None:
    """Return the first recipe of a queue that may have a system of the group.

    Grants only take systems and recipes away. So a recipe stays the first one as long as it waits and some
    candidate is left, and a queue without one has none for good. While queues have turns, which each grant
    changes, these decide for whom room is kept.
    """
    key, is_one_line = (tier, queue), partition.sets.turns.is_one_line
    if key in group.first_of_queues:
        kept = group.first_of_queues[key]
        if kept is None:
            return None
        if kept.systems & group.systems and (is_one_line or not _is_room_kept(partition, kept)):
            return kept
    searches = _searches(partition, group, tier, queue)
    first = _first_of_lines(partition, group, searches)
    if not is_one_line and any(search.until for search in searches):
        group.first_of_queues.pop(key, None)
    else:
        group.first_of_queues[key] = first
    return first


def _is_room_kept(partition: Partition, first: FirstOfQueue) -> bool:
    return room_kept_for(partition, partition.sets.recipes[first.place.rank.recipe_id]) is not None


# The lines of one queue


def _searches(partition: Partition, group: WakeGroup, tier: Tier, queue: str) -> list[LineSearch]:
    """Return the lines of a queue with recipes that the systems consider, each only once."""
    found = group.searches.get((tier, queue))
    if found is None:
        lines: dict[str, LineSearch] = {}
        for lab_controller, of_lab in partition.labs.each():
            for line in lines_of(partition, tier, lab_controller, queue) if group.systems & of_lab else ():
                if partition.filters.any_in(line, group.filters):
                    lines.setdefault(line, LineSearch(line, 0, group.filters)).of_labs |= of_lab
        found = group.searches[tier, queue] = list(lines.values())
    return found


def _first_of_lines(
    partition: Partition, group: WakeGroup, searches: Sequence[LineSearch]
) -> FirstOfQueue | None:
    for search in searches:
        search.until = None
    first = _first_in(partition, group, searches)
    while isinstance(first, LineSearch):
        if group.left_out >= MAX_LEFT_OUT:
            _leave_out_unfit(partition, group)
        first = _first_in(partition, group, searches)
    return first


def _leave_out_unfit(partition: Partition, group: WakeGroup) -> None:
    """Leave out the filters that fit none of the remaining systems, all at once."""
    group.left_out = 0
    group.filters = _fitting_filters(partition, group.systems, group.filters)
    for search in chain.from_iterable(group.searches.values()):
        search.filters &= group.filters


def _fitting_filters(partition: Partition, systems: int, among: int | None = None) -> int:
    """Return the filters of `among` (None: all) with recipes that fit any of these idle systems."""
    unforced = partition.available.idle(forced=False) & systems
    return partition.filters.fitting_filters(unforced, systems, among)


def _first_in(
    partition: Partition, group: WakeGroup, lines: Sequence[LineSearch]
) -> FirstOfQueue | LineSearch | None:
    """Return the first recipe in lines that may have a system of the group, None without one.

    Return a `LineSearch` that has changed, so that the caller searches again: its class has no room, room is
    kept from its further sets, or a filter without candidates was left out.
    """
    searches = [search for search in lines if partition.filters.any_in(search.line, search.filters)]
    found = [_places(partition, group, search) for search in searches]
    for place, search in found[0] if len(found) == 1 else heapq.merge(*found):
        host = partition.sets.recipes[place.rank.recipe_id]
        if partition.sets.classes.lacks_room(host.recipe_set_id):
            search.filters = 0
            return search
        if search.until is None:
            search.until = room_kept_for(partition, host)
            if search.until is not None:
                return search
        systems = partition.idle(host) & group.systems & search.of_labs
        if not systems:
            group.left_out += 1
            search.filters &= ~(1 << partition.filters.number(partition.sets.index.key(host)))
            return search
        if systems := _where_safe(partition, host, systems):
            return FirstOfQueue(place, systems)
    return None


def _where_safe(partition: Partition, host: Recipe, systems: int) -> int:
    """Return the systems in labs that are not hopeless for the set and in which some grant is safe."""
    if partition.sets.is_single(host.recipe_set_id):
        return systems
    sufficient = without_hopeless_labs(partition, host, systems)
    of_labs = (sufficient & of_lab for _, of_lab in partition.labs.each())
    return union(each for each in of_labs if _is_any_safe(partition, host, each))


def _is_any_safe(partition: Partition, host: Recipe, systems: int) -> bool:
    return any(is_safe(partition, host, number) for number in numbers_in(systems))


def _places(partition: Partition, group: WakeGroup, search: LineSearch) -> Iterator[tuple[Place, LineSearch]]:
    # No two recipes have the same place, so searches are never compared.
    filters, until = search.filters, search.until
    places = partition.filters.ranked_recipes_of_class(search.line, filters, group.rights, until)
    return ((place, search) for place in places)
