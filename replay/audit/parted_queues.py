"""The order of two sets by the queue where their paths part."""

from __future__ import annotations

from replay.audit.queue_order import order_of, parting, turn
from replay.audit.queue_tree import FIFO
from replay.audit.scheduler_view import SchedulerView
from replay.audit.tables import PRIORITIES, URGENCY


def comes_before(view: SchedulerView, one: int, other: int) -> bool | None:
    """Return whether the queue of one set has its turn before that of another one, None if they have none.

    The queue where their paths part decides, with the nominal priorities of the sets.
    """
    return queue_is_before(view, one, other, *(_priority(view, number) for number in (one, other)))


def queue_is_before(view: SchedulerView, one: int, other: int, mine: int, theirs: int) -> bool | None:
    """Return what `comes_before` returns, with these priorities of the sets (5 is Urgent)."""
    parts = parting(view.queue_of(one), view.queue_of(other))
    if parts is None:
        return None
    parent, my_queue, their_queue = parts
    use = view.use_of_queues()
    my_turn = turn(view.queue_tree, parent, my_queue, mine, use)
    their_turn = turn(view.queue_tree, parent, their_queue, theirs, use)
    return None if my_turn == their_turn else my_turn < their_turn


def are_plain(view: SchedulerView, one: int, other: int) -> bool:
    """Return whether two sets stand in the line of one leaf, or of two `fifo` leaves of one parent."""
    leaves = view.queue_of(one), view.queue_of(other)
    parts = parting(*leaves)
    if leaves[0] == leaves[1] or parts is None:
        return leaves[0] == leaves[1]
    return parts[1:] == leaves and all(order_of(view.queue_tree, leaf) == FIFO for leaf in leaves)


def _priority(view: SchedulerView, set_id: int) -> int:
    return len(PRIORITIES) - URGENCY[view.sets[set_id].priority]
