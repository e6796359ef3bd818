"""The order of two sets by the queue where their paths part."""

from __future__ import annotations

from typing import NamedTuple

from replay.audit.queue_order import order_of, parting, turn
from replay.audit.queue_tree import FAIR, FIFO
from replay.audit.scheduler_view import SchedulerView
from replay.audit.tables import PRIORITIES, URGENCY


class CompetingSet(NamedTuple):
    """A set with the priority with which it competes (5 is Urgent)."""

    set_id: int
    priority: int


def comes_before(view: SchedulerView, one: int, other: int) -> bool | None:
    """Return what `queue_is_before` returns for two sets with their nominal priorities."""
    return queue_is_before(view, *(CompetingSet(number, _priority(view, number)) for number in (one, other)))


def queue_is_before(view: SchedulerView, one: CompetingSet, other: CompetingSet) -> bool | None:
    """Return whether the queue of one set has its turn before that of another one, None if none decides.

    The queue where their paths part decides. A leaf that has become a parent keeps its sets, which come
    before those below it.
    """
    parent, mine, theirs = parting(view.queue_of(one.set_id), view.queue_of(other.set_id))
    if mine == theirs or not view.queue_tree.has_turns:
        return None
    if not mine or not theirs:
        return not mine
    use = view.use_of_queues()
    my_turn = turn(view.queue_tree, parent, mine, one.priority, use)
    their_turn = turn(view.queue_tree, parent, theirs, other.priority, use)
    return None if my_turn == their_turn else my_turn < their_turn


def is_order_settled(view: SchedulerView, one: int, other: int) -> bool:
    """Return whether the order of two sets depends on no other set of their queues."""
    parent, mine, theirs = parting(view.queue_of(one), view.queue_of(other))
    if not view.queue_tree.has_turns or not mine or not theirs:
        return True
    return order_of(view.queue_tree, parent) == FAIR


def is_between_leaves(view: SchedulerView, one: int, other: int) -> bool:
    """Return whether two sets are in leaves of one parent."""
    leaves = view.queue_of(one), view.queue_of(other)
    return parting(*leaves)[1:] == leaves


def share_one_line(view: SchedulerView, one: int, other: int) -> bool:
    """Return whether two sets stand in the line of one leaf, or of two `fifo` leaves of one parent."""
    leaves = view.queue_of(one), view.queue_of(other)
    if leaves[0] == leaves[1]:
        return True
    is_plain = all(order_of(view.queue_tree, leaf) == FIFO for leaf in leaves)
    return is_plain and is_between_leaves(view, one, other)


def _priority(view: SchedulerView, set_id: int) -> int:
    return len(PRIORITIES) - URGENCY[view.sets[set_id].priority]
