"""The order in which sets get room under limits: nominal priority, weight, submission (design 5.4).

A set gets no room while a set before it in this order lacks only this room and could be given a free system.
The systems are asked one after another, so before a set takes the last room, the sets before it that the
remaining room would no longer suffice for get their systems. A set that needs more room than is free is
passed over until it weighs 0. From then on the room is kept for it, for one set at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from domain.contention.weights import ticks
from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import COUNTING_HOSTS, ROWS_BY_KIND, Needs, RoomLimit
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.system_order import places_for_system
from domain.scheduling.demand.lines import OWED, QUEUED, room_line
from domain.scheduling.demand.order import Place
from domain.scheduling.demand.room_places import RoomGroup, RoomPlace
from domain.scheduling.ranked import Rank
from domain.scheduling.supply.reasons import NO_ROOM, ROOM_KEPT
from domain.scheduling.world.partition import Partition


class RoomRival(NamedTuple):
    """A recipe whose set comes before another one in the order of room, and the number of its free system."""

    host: Recipe
    number: int


def first_for_system(partition: Partition, number: int) -> Recipe | None:
    """Return the first recipe in the order of a system whose grant is safe and whose set has room."""
    system = partition.system(number)
    for _, host in places_with_room(partition, lambda until: places_for_system(partition, system, until)):
        if is_safe(partition, host, number):
            return host
    return None


def places_with_room(
    partition: Partition, search: Callable[[Mapping[str, Rank]], Iterable[tuple[int, Place]]]
) -> Iterator[tuple[Place, Recipe]]:
    """Yield the places of recipes in line from which no room is kept, in order.

    `search` returns the tiers and places of the recipes, without those in sets behind a rank of their line.
    So the sets of a class from which room is kept are passed over at once.
    """
    until: dict[str, Rank] = {}
    last: tuple[int, Place] | None = None
    while True:
        for found in search(until):
            if last is not None and found <= last:
                continue
            host = partition.sets.recipes[found[1].rank.recipe_id]
            line = partition.sets.places.line_of(host)
            if line is not None and line not in until:
                kept = room_kept_for(partition, host)
                if kept is not None:
                    until[line] = kept
                    break
            last = found
            yield found[1], host
        else:
            return


def first_rival(partition: Partition, host: Recipe, number: int | None = None) -> RoomRival | None:
    """Return the first recipe whose set must get room before that of `host`, None if there is none.

    `number` is the system that `host` is about to take, which no rival gets here. A rival may have rivals of
    its own, under limits that do not apply to `host`; then one without any is returned.
    """
    if not partition.sets.classes.numbers:
        return None
    rival = _first_rival(partition, host, number)
    while rival is not None:
        other = _first_rival(partition, rival.host, rival.number)
        if other is None:
            return rival
        rival = other
    return None


def _first_rival(partition: Partition, host: Recipe, number: int | None) -> RoomRival | None:
    classes = _rival_classes(partition, host)
    if not classes:
        return None
    search = _RivalSearch(partition, classes, _place(partition, host))
    others = ~(0 if number is None else 1 << number)
    for each in classes:
        search.ask_idle(each, others)
    for pending in numbers_in(partition.available.pending() & others):
        search.ask(pending)
    return search.rival


def _rival_classes(partition: Partition, host: Recipe) -> list[int]:
    """Return the classes with room that would have none after a grant to the set of `host`.

    They are sorted, because a scheduler that starts from a snapshot meets them in another order.
    """
    sets, rooms = partition.sets, partition.sets.rooms
    if host.recipe_set_id in rooms.charged:
        return []
    found: dict[int, None] = {}
    for limit, count in sets.classes.needs(host.recipe_set_id):
        left = rooms.free(limit) - count
        for number in rooms.under(limit, more_than=left):
            if rooms.has_room(rooms.needs_of(number)):
                found[number] = None
    return sorted(found, key=rooms.needs_of)


def _place(partition: Partition, host: Recipe) -> RoomPlace:
    rank = partition.sets.rank(host)
    return RoomPlace(rank.negative_priority, partition.sets.places.weight(host), rank)


class _RivalSearch:
    """The search for the first rival of a recipe with a place, among sets of some classes. Mutable."""

    def __init__(self, partition: Partition, classes: Collection[int], before: RoomPlace) -> None:
        self.rival: RoomRival | None = None
        self._partition = partition
        self._classes = classes
        self._before = before
        self._asked = 0

    def ask_idle(self, number: int, systems: int) -> None:
        """Ask the idle ones of `systems` that recipes of a class could be given, first recipes first.

        The search ends where a recipe gets one of the systems that fit it. A recipe that gets none of them
        leaves no system to ask to the others with the same demand.
        """
        available = self._partition.available
        idle = {forced: available.idle(forced=forced) & systems & ~self._asked for forced in (False, True)}
        for place, viable in _places(self._partition, number, idle, self._is_any_left):
            if place >= self._before:
                return
            host = self._partition.sets.recipes[place.rank.recipe_id]
            for each in numbers_in(without_hopeless_labs(self._partition, host, viable & ~self._asked)):
                if self.ask(each) == host:
                    return

    def _is_any_left(self, systems: int) -> bool:
        return systems & ~self._asked != 0

    def ask(self, number: int) -> Recipe | None:
        """Return the first recipe for a free system, a rival if its set is before and of the classes."""
        self._asked |= 1 << number
        host = first_for_system(self._partition, number)
        if host is None or host.recipe_set_id in self._partition.sets.rooms.charged:
            return host
        number_of_class = self._partition.sets.classes.numbers.get(host.recipe_set_id)
        place = _place(self._partition, host)
        if place < self._before and number_of_class in self._classes:
            self._before, self.rival = place, RoomRival(host, number)
        return host


def _places(
    partition: Partition, number: int, systems: Mapping[bool, int], is_sought: Callable[[int], bool]
) -> Iterator[tuple[RoomPlace, int]]:
    """Yield the recipes of a class in the order of room, each with those of `systems` viable for it.

    The recipes with a demand are left out as soon as their viable systems are not sought.
    """
    lines = (room_line(line, number) for line in (QUEUED, OWED))
    places_for_room = partition.filters.places_for_room
    return heapq.merge(*(places_for_room(line, systems, is_sought) for line in lines))


# Room that is kept


def room_kept_for(partition: Partition, host: Recipe) -> Rank | None:
    """Return a recipe of the very first set for which room is kept that the set of `host` needs.

    Return None if no room is kept from the set. The room is kept from all sets behind the first one: a set
    that weighs 0 after K ticks was submitted before all that weigh something.
    """
    return min((rank for _, rank in _kept(partition, host)), default=None)


def _kept(partition: Partition, host: Recipe) -> Iterator[tuple[RoomLimit, Rank]]:
    """Yield the limits under which room is kept from the set of a host, with the rank that it is kept for."""
    sets = partition.sets
    if not sets.classes.numbers:
        return
    needs = sets.classes.needs(host.recipe_set_id)
    if not needs or host.recipe_set_id in sets.rooms.charged:
        return
    own = _place(partition, host)
    for limit, _ in needs:
        if limit.kind in COUNTING_HOSTS and (rank := _kept_for(partition, limit, own)) is not None:
            yield limit, rank


def _kept_for(partition: Partition, limit: RoomLimit, before: RoomPlace) -> Rank | None:
    """Return the first set before a place that waits for more room than is free, since K ticks or longer."""
    rooms, first = partition.sets.rooms, None
    usable = {forced: partition.available.usable(forced=forced) for forced in (False, True)}
    for number in rooms.under(limit, more_than=rooms.free(limit)):
        needs = rooms.needs_of(number)
        if not _may_be_kept(rooms, needs):
            continue
        for line in (QUEUED, OWED):
            for group in partition.filters.room_groups(room_line(line, number), usable):
                rank = _first_aged(partition, group, before)
                if rank is not None:
                    first, before = rank, _aged_place(rank)
    return first


def _may_be_kept(rooms: Rooms, needs: Needs) -> bool:
    """Return whether a set lacks only room that comes free with systems, and never more than there is."""
    return all(
        limit.kind in COUNTING_HOSTS and count <= limit.capacity
        for limit, count in needs
        if rooms.free(limit) < count
    )


def _first_aged(partition: Partition, group: RoomGroup, before: RoomPlace) -> Rank | None:
    """Return the first recipe of a group before a place that is aged and whose set could be placed.

    Within one nominal priority no recipe has waited longer than the first one.
    """
    for ranks in group.ranks.by_priority():
        for rank in ranks:
            if _aged_place(rank) >= before:
                return None
            partition.effort.rows += 1
            host = partition.sets.recipes[rank.recipe_id]
            if not _is_aged(partition, host):
                break
            if without_hopeless_labs(partition, host, group.viable):
                return rank
    return None


def _aged_place(rank: Rank) -> RoomPlace:
    """Return the place of an aged recipe, which weighs 0."""
    return RoomPlace(rank.negative_priority, 0, rank)


def _is_aged(partition: Partition, host: Recipe) -> bool:
    """Return whether a recipe has waited K ticks, after which its set weighs 0."""
    weighing = partition.filters.weighing
    submitted_at = partition.sets.sets[host.recipe_set_id].submitted_at
    if submitted_at is None or weighing.now is None:
        return False
    settings = weighing.settings
    return ticks(submitted_at, weighing.now, settings.tick_milliseconds) >= settings.coefficient


# Reasons


class Lack(NamedTuple):
    """A limit that keeps a set from its first system: the kind of the limit, and the reason."""

    row: str
    reason: str


def lacks(partition: Partition, host: Recipe) -> Iterator[Lack]:
    """Yield the limits under which the set of a recipe has no room, or whose room is kept for another set."""
    sets = partition.sets
    if sets.classes.lacks_room(host.recipe_set_id):
        for limit in sets.rooms.lacking(sets.classes.needs(host.recipe_set_id)):
            yield Lack(ROWS_BY_KIND[limit.kind], f"{NO_ROOM}: {limit}")
    else:
        kept = next((limit for limit, _ in _kept(partition, host)), None)
        if kept is not None:
            yield Lack(ROWS_BY_KIND[kept.kind], ROOM_KEPT)
