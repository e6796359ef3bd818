"""The order in which sets get room: turns of queues, nominal priority, weight, submission (design 5.4, 6.2).

While queues have turns, the tree says which set is first of those that could have the room (decision 34).
Pairs of sets decide only for whom room is kept.

A set gets no room while a set before it in this order lacks only this room and could be given a free system.
The systems are asked one after another, so before a set takes the last room, the sets before it that the
remaining room would no longer suffice for get their systems.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from domain.queues.order import Keyed
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.claiming import claimant_for_system
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.kept_room import room_kept_for, standing_of
from domain.scheduling.decisions.system_order import Tier, first_in_turn, lines_of
from domain.scheduling.demand.lines import OWED, QUEUED, room_line
from domain.scheduling.demand.order import Place
from domain.scheduling.demand.room_places import RoomPlace
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.queue_turns import Standing, key_among_queues
from domain.scheduling.world.partition import Partition
from domain.system.state import System


class RoomRival(NamedTuple):
    """A recipe whose set comes before another one in the order of room, and the number of its free system."""

    host: Recipe
    number: int


def first_for_system(partition: Partition, number: int) -> Recipe | None:
    """Return the claimant or else first recipe for a system whose grant is safe and whose set has room."""
    system = partition.system(number)
    claimant = claimant_for_system(partition, system.fqdn)
    return claimant or first_in_turn(partition, partial(grantable_recipes, partition, system))


def grantable_recipes(
    partition: Partition, system: System, tier: Tier, queue: str
) -> Iterator[Keyed[Recipe]]:
    """Yield the recipes of a queue whose grant of a system is safe and whose sets have room, in order."""
    number = partition.labs.number(system.fqdn)
    for key, host in recipes_with_room(partition, system, tier, queue):
        if is_safe(partition, host, number):
            yield key, host


def recipes_with_room(
    partition: Partition, system: System, tier: Tier, queue: str
) -> Iterator[Keyed[Recipe]]:
    """Yield the recipes of a queue that fit a system and whose sets have room, in order."""
    forced_only = partition.is_for_forced_only(system)
    lines = lines_of(partition, tier, system.lab_controller, queue)

    def search(until: Mapping[str, Rank]) -> Iterator[Place]:
        return partition.filters.ranked_recipes(system.fqdn, lines, forced_only=forced_only, until=until)

    for place, host in places_with_room(partition, search):
        yield key_among_queues(place), host


def places_with_room(
    partition: Partition, search: Callable[[Mapping[str, Rank]], Iterable[Place]]
) -> Iterator[tuple[Place, Recipe]]:
    """Yield the places of recipes in line from which no room is kept, in order.

    `search` returns the places of the recipes, without those in sets behind a rank of their line. So the sets
    of a class from which room is kept are passed over at once.
    """
    until: dict[str, Rank] = {}
    last: Place | None = None
    while True:
        for found in search(until):
            if last is not None and found <= last:
                continue
            host = partition.sets.recipes[found.rank.recipe_id]
            line = partition.sets.places.line_of(host)
            if line is not None and line not in until:
                kept = room_kept_for(partition, host)
                if kept is not None:
                    until[line] = kept
                    break
            last = found
            yield found, host
        else:
            return


def first_rival(partition: Partition, host: Recipe, number: int | None = None) -> RoomRival | None:
    """Return the first recipe whose set must get room before that of `host`, None if there is none.

    `number` is the system that `host` is about to take, which no rival gets here. A rival may have rivals of
    its own, under limits that do not apply to `host`: then the search goes on from the first of these, until
    a recipe has none or the next one was passed already.
    """
    if not partition.sets.classes.numbers:
        return None
    rival, passed = _first_rival(partition, host, number), {host.recipe_set_id}
    while rival is not None:
        passed.add(rival.host.recipe_set_id)
        other = _first_rival(partition, rival.host, rival.number)
        # With queues of different orders one below another, who is first depends on who else there is.
        if other is None or other.host.recipe_set_id in passed:
            return rival
        rival = other
    return None


def _first_rival(partition: Partition, host: Recipe, number: int | None) -> RoomRival | None:
    classes = _rival_classes(partition, host)
    if not classes:
        return None
    search = _RivalSearch(partition, classes, standing_of(partition, host))
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
    return sorted(found, key=rooms.key_of)


class _RivalSearch:
    """The search for the first rival of a recipe with a standing, among sets of some classes. Mutable."""

    def __init__(self, partition: Partition, classes: Collection[int], before: Standing) -> None:
        self._partition = partition
        self._classes = classes
        self._before = before
        self._asked = 0
        # The first set of each queue and its recipe; None stands for the recipe that has rivals.
        self._firsts: dict[str, tuple[RoomPlace, RoomRival | None]] = {before.queue: (before.place, None)}

    @property
    def rival(self) -> RoomRival | None:
        """Return the recipe of the set that is first of all, None if no set is before the standing."""

        def items_of(queue: str) -> Iterator[Keyed[RoomRival | None]]:
            place, rival = self._firsts[queue]
            yield (place.negative_priority, place.weight, *place.rank), rival

        return next(self._partition.sets.turns.ordered_among(self._firsts, items_of))[1]

    def ask_idle(self, number: int, systems: int) -> None:
        """Ask the idle ones of `systems` that recipes of a class could be given, first recipes first.

        The search ends where a recipe gets one of the systems that fit it. A recipe that gets none of them
        leaves no system to ask to the others with the same demand. In queues whose turns depend on their
        recipes, the search does not end at a set behind: such a set may come before another one of its queue.
        """
        available, queue = self._partition.available, self._partition.sets.rooms.queue_of(number)
        turns = self._partition.sets.turns
        is_settled = turns.is_settled(queue, self._before.queue)
        idle = {forced: available.idle(forced=forced) & systems & ~self._asked for forced in (False, True)}
        for place, viable in _places(self._partition, number, idle, self._is_any_left):
            if is_settled and not turns.is_before(Standing(queue, place), self._before):
                return
            host = self._partition.sets.recipes[place.rank.recipe_id]
            for each in numbers_in(without_hopeless_labs(self._partition, host, viable & ~self._asked)):
                if self.ask(each) == host:
                    return

    def _is_any_left(self, systems: int) -> bool:
        return systems & ~self._asked != 0

    def ask(self, number: int) -> Recipe | None:
        """Return the first recipe for a free system, which may be a rival if its set is of the classes."""
        self._asked |= 1 << number
        host = first_for_system(self._partition, number)
        sets = self._partition.sets
        if host is None or host.recipe_set_id in sets.rooms.charged:
            return host
        if sets.classes.numbers.get(host.recipe_set_id) in self._classes:
            self._note(standing_of(self._partition, host), RoomRival(host, number))
        return host

    def _note(self, standing: Standing, rival: RoomRival) -> None:
        before = self._firsts.get(standing.queue)
        if before is None or standing.place < before[0]:
            self._firsts[standing.queue] = standing.place, rival
        turns = self._partition.sets.turns
        if turns.is_alike_everywhere and turns.is_before(standing, self._before):
            # While turns depend on no recipe, sets behind the first one need not be looked at.
            self._before = standing


def _places(
    partition: Partition, number: int, systems: Mapping[bool, int], is_sought: Callable[[int], bool]
) -> Iterator[tuple[RoomPlace, int]]:
    """Yield the recipes of a class in the order of room, each with those of `systems` viable for it.

    The recipes with a demand are left out as soon as their viable systems are not sought.
    """
    lines = (room_line(line, number) for line in (QUEUED, OWED))
    places_for_room = partition.filters.places_for_room
    return heapq.merge(*(places_for_room(line, systems, is_sought) for line in lines))
