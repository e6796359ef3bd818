"""The order in which sets get room: turns of queues, nominal priority, weight, submission (design 5.4, 6.2).

Room is kept for the first set that has waited K ticks and needs more of it than is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from replay.audit.admission import effect, holds_nothing, lacking
from replay.audit.competing_sets import comes_before
from replay.audit.matching import can_match, unplaced_hosts
from replay.audit.queue_order import LeafFirst, first_of
from replay.audit.rooms import COUNTING_HOSTS, QUEUE_JOBS, Limit, Needs
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import PRIORITIES, URGENCY
from replay.audit.weight_formula import remaining_ticks, settings_of
from replay.audit.weights import weights_at


class RoomTurn(NamedTuple):
    """The turn of a set that gets room; the least one is first, and priority 0 is Urgent.

    `systems` is the number of systems of the job in a fair leaf, 0 elsewhere.
    """

    nominal: int
    systems: int
    weight: int
    submission: int


def turn_of(view: SchedulerView, set_id: int) -> RoomTurn:
    """Return the turn of a set at the time of the decision; an owed set weighs nothing."""
    recipe_set, weights = view.sets[set_id], weights_at(view, view.now)
    is_weightless = weights is None or any(map(view.weighs_nothing, view.hosts(set_id)))
    weight = 0 if weights is None or is_weightless else weights.weight(set_id)
    is_owed_first = view.bound_first and any(map(view.is_owed, view.hosts(set_id)))
    is_by_job = view.is_in_fair_leaf(set_id) and not is_owed_first
    systems = view.systems_of_job[recipe_set.job_id] if is_by_job else 0
    return RoomTurn(URGENCY[recipe_set.priority], systems, weight, recipe_set.submission)


def gets_room_before(view: SchedulerView, one: int, other: int, *, counting_jobs: bool = True) -> bool:
    """Return whether a set comes before another one in the order of room.

    Of sets in different queues, the queue where their paths part decides. Only within a leaf the systems of
    jobs count, and not for room that is kept.
    """
    by_queue = comes_before(view, one, other)
    if by_queue is not None:
        return by_queue
    turns = turn_of(view, one), turn_of(view, other)
    if not counting_jobs or view.queue_of(one) != view.queue_of(other):
        return turns[0]._replace(systems=0) < turns[1]._replace(systems=0)
    return turns[0] < turns[1]


def first_for_room(view: SchedulerView, set_ids: Iterable[int]) -> int:
    """Return the set that gets room first of some."""
    turns = {number: turn_of(view, number) for number in set_ids}
    if not view.queue_tree.has_turns:
        return min(turns, key=turns.__getitem__)
    firsts: dict[str, LeafFirst] = {}
    for number in sorted(turns, key=turns.__getitem__):
        place = turns[number]._replace(systems=0)
        first = LeafFirst(len(PRIORITIES) - turns[number].nominal, place, number)
        firsts.setdefault(view.queue_of(number), first)
    return first_of(view.queue_tree, firsts, view.use_of_queues()).number


def sets_in_line(view: SchedulerView) -> Iterator[int]:
    """Yield the sets in the queue that hold nothing, and that neither a dependency nor a rule holds back."""
    numbers = dict.fromkeys(view.recipes[number].set_id for number in view.queues)
    return (number for number in numbers if holds_nothing(view, number) and effect(view, number) is None)


def is_room_kept_from(view: SchedulerView, matcher: SystemMatcher, set_id: int) -> bool:
    """Return whether room that a set needs is kept for a set before it, which needs more systems."""
    if not holds_nothing(view, set_id):
        return False
    limits = {limit for limit in view.first_needs(set_id) if limit.kind in COUNTING_HOSTS}
    if not limits:
        return False
    return any(
        _is_aged(view, other)
        and _lacks_only_systems(view, other, limits)
        and gets_room_before(view, other, set_id, counting_jobs=False)
        and _could_be_placed(view, matcher, other, view.needs(other))
        for other in sets_in_line(view)
    )


def _lacks_only_systems(view: SchedulerView, set_id: int, limits: Set[Limit]) -> bool:
    """Return whether a set lacks room under one of these limits, and only under limits that count hosts."""
    lacked = lacking(view, set_id)
    return not limits.isdisjoint(lacked) and all(limit.kind in COUNTING_HOSTS for limit in lacked)


def _is_aged(view: SchedulerView, set_id: int) -> bool:
    settings = settings_of(view.configuration.get("weights", {}))
    return not remaining_ticks(view.sets[set_id].recorded_at, view.now, settings)


def _could_be_placed(view: SchedulerView, matcher: SystemMatcher, set_id: int, needs: Needs) -> bool:
    """Return whether a set could be placed if no other set held systems or room."""
    if any(count > limit.capacity for limit, count in needs.items()):
        return False
    hosts = unplaced_hosts(view, set_id)
    return any(can_match(matcher, hosts, lab, set()) for lab in sorted(view.systems_of))


def would_lack(view: SchedulerView, set_id: int, other: int) -> Limit | None:
    """Return a limit that would have too little room for a set after a grant to the other one."""
    others, free = view.first_needs(other), view.rooms.free
    is_same_job = view.sets[set_id].job_id == view.sets[other].job_id
    return next(
        (
            limit
            for limit, count in view.first_needs(set_id).items()
            if limit in others
            and free(limit) - others[limit] < count
            and not (is_same_job and limit.kind == QUEUE_JOBS)
        ),
        None,
    )
