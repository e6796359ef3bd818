"""Room that is kept for sets that have waited K ticks, and the limits that keep a set from its first system.

A set that needs more room than is free is passed over until it weighs 0. From then on the room is kept for
it, for one set at a time (design 5.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from domain.contention.weights import ticks
from domain.priority import Priority
from domain.queues.order import Contender
from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import COUNTING_HOSTS, ROWS_BY_KIND, Needs, RoomLimit
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.demand.lines import OWED, QUEUED, room_line
from domain.scheduling.demand.room_places import RoomGroup, RoomPlace
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.queue_turns import QueueTurns, Standing
from domain.scheduling.supply.reasons import NO_ROOM, ROOM_KEPT
from domain.scheduling.world.partition import Partition


def standing_of(partition: Partition, host: Recipe) -> Standing:
    sets, rank = partition.sets, partition.sets.rank(host)
    place = RoomPlace(rank.negative_priority, sets.places.systems(host), sets.places.weight(host), rank)
    return Standing(sets.turns.queue_of(sets.sets[host.recipe_set_id]), place)


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
    before = standing_of(partition, host)
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
