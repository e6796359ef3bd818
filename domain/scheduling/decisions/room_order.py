"""The order in which sets get room: turns of queues, nominal priority, weight, submission (design 5.4, 6.2).

While queues have turns, the tree says which set is first of those that could have the room (decision 34).
Pairs of sets decide only for whom room is kept.

A set gets no room while a set before it in this order lacks only this room and could be given a free system.
The systems are asked one after another, so before a set takes the last room, the sets before it that the
remaining room would no longer suffice for get their systems. A set that needs more room than is free is
passed over until it weighs 0. From then on the room is kept for it, for one set at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from domain.contention.weights import ticks
from domain.priority import Priority
from domain.queues.order import Contender, Keyed
from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import COUNTING_HOSTS, ROWS_BY_KIND, Needs, RoomLimit
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.system_order import Tier, first_in_turn, lines_of
from domain.scheduling.demand.lines import OWED, QUEUED, room_line
from domain.scheduling.demand.order import Place
from domain.scheduling.demand.room_places import RoomGroup, RoomPlace
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.queue_turns import QueueTurns, Standing, key_among_queues
from domain.scheduling.supply.reasons import NO_ROOM, ROOM_KEPT
from domain.scheduling.world.partition import Partition
from domain.system.state import System


class RoomRival(NamedTuple):
    """A recipe whose set comes before another one in the order of room, and the number of its free system."""

    host: Recipe
    number: int


def first_for_system(partition: Partition, number: int) -> Recipe | None:
    """Return the first recipe in the order of a system whose grant is safe and whose set has room."""
    return first_in_turn(partition, partial(grantable_recipes, partition, partition.system(number)))


def grantable_recipes(
    partition: Partition, system: System, tier: Tier, queue: str
) -> Iterator[Keyed[Recipe]]:
    """Yield the recipes of a queue whose grant of a system is safe and whose sets have room, in order."""
    number, forced_only = partition.labs.number(system.fqdn), partition.is_for_forced_only(system)
    lines = lines_of(partition, tier, system.lab_controller, queue)

    def search(until: Mapping[str, Rank]) -> Iterator[Place]:
        return partition.filters.ranked_recipes(system.fqdn, lines, forced_only=forced_only, until=until)

    for place, host in places_with_room(partition, search):
        if is_safe(partition, host, number):
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
    search = _RivalSearch(partition, classes, _standing(partition, host))
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


def _standing(partition: Partition, host: Recipe) -> Standing:
    sets, rank = partition.sets, partition.sets.rank(host)
    place = RoomPlace(rank.negative_priority, sets.places.systems(host), sets.places.weight(host), rank)
    return Standing(sets.turns.queue_of(sets.sets[host.recipe_set_id]), place)


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
            self._note(_standing(self._partition, host), RoomRival(host, number))
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


# Room that is kept


def room_kept_for(partition: Partition, host: Recipe) -> Rank | None:
    """Return the rank in the queue of `host` behind which room is kept that its set needs.

    Return None if no room is kept from the set. The rank is that of the very first set for which room is
    kept, or one before all sets with some priority if that set is of another queue. The room is kept from all
    sets behind it: a set that weighs 0 after K ticks was submitted before all that weigh something. How many
    systems a job has does not matter here.
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
    if not sets.rooms.has_closed:
        return
    for limit, _ in needs:
        if limit.kind in COUNTING_HOSTS and (rank := _kept_under(partition, limit, host)) is not None:
            yield limit, rank


def _kept_under(partition: Partition, limit: RoomLimit, host: Recipe) -> Rank | None:
    """Return the first rank in the queue of `host` behind which room is kept for a set that is before it.

    That set waits for more room than is free, since K ticks or longer.
    """
    rooms, found = partition.sets.rooms, list[Rank]()
    lacking = rooms.under(limit, more_than=rooms.free(limit))
    numbers = [number for number in lacking if _may_be_kept(rooms, rooms.needs_of(number))]
    if not numbers:
        return None
    before = _standing(partition, host)
    before = before._replace(place=before.place._replace(systems=0))
    usable = {forced: partition.available.usable(forced=forced) for forced in (False, True)}
    for number in numbers:
        for line in (QUEUED, OWED):
            for group in partition.filters.room_groups(room_line(line, number), usable):
                aged = _first_aged(partition, rooms.queue_of(number), group, before)
                if aged is not None:
                    found.append(_first_behind(partition.sets.turns, aged, before.queue))
    return min(found, default=None)


def _first_behind(turns: QueueTurns, kept: Standing, queue: str) -> Rank:
    """Return the rank in a queue behind which all sets come after a set in the order of room."""
    rank = kept.place.rank
    for priority in reversed(Priority) if kept.queue != queue else ():
        negative = -priority
        turn = turns.compare(kept.contender, Contender(queue, priority))
        if turn < 0 or (turn == 0 and rank.negative_priority < negative):
            return Rank(negative, 0, 0)
        if turn == 0 and rank.negative_priority == negative:
            return rank
    return rank


def _may_be_kept(rooms: Rooms, needs: Needs) -> bool:
    """Return whether a set lacks only room that comes free with systems, and never more than there is."""
    return all(
        limit.kind in COUNTING_HOSTS and count <= limit.capacity
        for limit, count in needs
        if rooms.free(limit) < count
    )


def _first_aged(partition: Partition, queue: str, group: RoomGroup, before: Standing) -> Standing | None:
    """Return the first recipe of a group before a standing that is aged and whose set could be placed.

    Within one nominal priority no recipe has waited longer than the first one.
    """
    for ranks in group.ranks.by_priority():
        for rank in ranks:
            # An aged recipe weighs 0.
            standing = Standing(queue, RoomPlace(rank.negative_priority, 0, 0, rank))
            if not partition.sets.turns.is_before(standing, before):
                return None
            partition.effort.rows += 1
            host = partition.sets.recipes[rank.recipe_id]
            if not _is_aged(partition, host):
                break
            if without_hopeless_labs(partition, host, group.viable):
                return standing
    return None


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
