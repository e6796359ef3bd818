"""The order among queues: which leaf says next which of its recipes gets a system (design 6.2).

Each parent says which child is next, by its order:

- `fifo`: the child whose first recipe stands first, as if the recipes of all children stood in one line.
- `fair`: the child with the least used systems for each guaranteed one, where a queue without a guarantee
  counts as one with 1; then the child whose first set stands first: by nominal priority, then by submission.
- `priority`: the child whose first recipe has the highest effective priority plus the offset of the child, of
  a fenced child the offset alone; then as `fair`.

The first recipe of a child is the first one that could take the system, so a child without any is passed
over. Its first set is the first one with a recipe that waits for a system, which need not fit this one. So
the children of a `fair` parent have the same order on all systems, and are asked one by one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from functools import cached_property
from itertools import chain, takewhile
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeVar

from domain.queues.tree import FAIR, FIFO, MAX_NUMBER, PRIORITY, ROOT, Queue, QueueTree

T = TypeVar("T")

QueueKey = tuple[int, ...]
"""The sort key of a recipe in the line of several queues; it begins with the negative effective priority."""

Keyed = tuple[QueueKey, T]
"""The sort key of a recipe, and an item of the caller."""

FirstSet = tuple[int, ...]
"""The place of the first set of a queue: the negative nominal priority, and the submission."""

# Two quotients whose divisors are at most MAX_NUMBER differ by at least 1 / MAX_NUMBER ** 2.
_SCALE: Final = MAX_NUMBER**2


class WaitingQueues(NamedTuple):
    """The leaves that may have waiting recipes, and the queues that lead to these, by the queue above.

    `shares` has the result of `QueueOrder.share` for each queue with used systems. `first_set` returns the
    place of the first set at or below a queue, an empty one if no set waits there.
    """

    leaves: Container[str]
    children: Mapping[str, Collection[str]]
    shares: Mapping[str, int]
    first_set: Callable[[str], FirstSet]


class Contender(NamedTuple):
    """A set that competes with another one: the path of its leaf, and its priority."""

    queue: str
    priority: int


class QueueTurn(NamedTuple):
    """The turn of a queue among its siblings, least first: the priority with its offset, share, first set.

    `negative_priority` is 0 below a parent with the order `fair`.
    """

    negative_priority: int
    share: int
    first_set: FirstSet
    path: str


class QueueOrder:
    """The order of the queues of a tree. Immutable, but for cached results."""

    def __init__(self, tree: QueueTree) -> None:
        self._tree = tree
        self._queues: dict[str, Queue] = {}

    @cached_property
    def is_one_line(self) -> bool:
        """Return whether the recipes of all queues stand in one line, because every queue is `fifo`."""
        queues = self._tree.by_path.values()
        of_templates = (queue.template.order for queue in queues if queue.template)
        return all(order == FIFO for order in chain((queue.order for queue in queues), of_templates))

    @cached_property
    def is_alike_everywhere(self) -> bool:
        """Return whether queues have the same turns on all systems, whichever recipes fit there.

        Only below parents with another order than `fair` the recipes count; vanished parents are `fifo`.
        """
        parents = (queue for queue in self._tree.by_path.values() if not queue.is_leaf)
        return not self._tree.vanished and all(parent.order == FAIR for parent in parents)

    def is_fair(self, path: str) -> bool:
        """Return whether a queue has the order `fair`."""
        return self._queue(path).order == FAIR

    def ordered(
        self, waiting: WaitingQueues, items_of: Callable[[str], Iterator[Keyed[T]]]
    ) -> Iterator[Keyed[T]]:
        """Yield the recipes below root in the order of a system, as it is while nothing is granted.

        `items_of` returns the recipes of a leaf in the order of the leaf. A change invalidates the iterator.
        """
        return _QueueSearch(self, waiting, items_of).items(ROOT)

    def turn(self, waiting: WaitingQueues, order: str, path: str, priority: int) -> QueueTurn:
        """Return the turn of a queue whose first recipe has an effective priority, below a parent's order."""
        negative = 0
        if order == PRIORITY:
            queue = self._queue(path)
            negative = -(queue.priority_offset + (0 if queue.fence else priority))
        return QueueTurn(negative, waiting.shares.get(path, 0), waiting.first_set(path), path)

    def turns(
        self, waiting: WaitingQueues, one: Contender, other: Contender
    ) -> tuple[QueueTurn, QueueTurn] | None:
        """Return the turns of two sets where their paths part, None if no turn decides there.

        No turn decides if they stand in one line, or if one of the paths ends there.
        """
        parent, mine, theirs = _parting(one.queue, other.queue)
        order = self._queue(parent).order
        if order == FIFO or not mine or not theirs:
            return None
        return (
            self.turn(waiting, order, mine, one.priority),
            self.turn(waiting, order, theirs, other.priority),
        )

    def compare(self, waiting: WaitingQueues, one: Contender, other: Contender) -> int:
        """Return whose turn is earlier: below 0 for `one`, above 0 for `other`, 0 if their places decide.

        A leaf that has become a parent keeps its sets until they end; they come before those below it.
        """
        _, mine, theirs = _parting(one.queue, other.queue)
        if not mine or not theirs:
            return bool(mine) - bool(theirs)
        turns = self.turns(waiting, one, other)
        return 0 if turns is None else (turns[0] > turns[1]) - (turns[0] < turns[1])

    def is_settled(self, one: str, other: str) -> bool:
        """Return whether the turns of two queues depend on no recipe where their paths part."""
        parent, mine, theirs = _parting(one, other)
        return not mine or not theirs or self.is_fair(parent)

    def _queue(self, path: str) -> Queue:
        """Return the properties of a queue; an unknown one has none."""
        queue = self._queues.get(path)
        if queue is None:
            queue = self._queues[path] = self._tree.find(path) or Queue(path)
        return queue

    def order_of(self, path: str) -> str:
        return self._queue(path).order

    def guaranteed(self, path: str) -> int | None:
        """Return the guarantee of a queue, None without one."""
        return self._queue(path).guaranteed

    def share(self, path: str, used: int) -> int:
        """Return used / guaranteed of a queue, times a number that keeps different quotients apart."""
        return used * _SCALE // (self.guaranteed(path) or 1)


def _parting(one: str, other: str) -> tuple[str, str, str]:
    """Return the queue where two paths part, and the next queue on each; empty if a path ends there."""
    mine, theirs = one.split("."), other.split(".")
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False)))

    def following(path: list[str]) -> str:
        return ".".join(path[: same + 1]) if len(path) > same else ""

    return ".".join(mine[:same]), following(mine), following(theirs)


class _QueueSearch(Generic[T]):
    """One search for the next recipes of a system."""

    def __init__(
        self, order: QueueOrder, waiting: WaitingQueues, items_of: Callable[[str], Iterator[Keyed[T]]]
    ) -> None:
        self._order = order
        self._waiting = waiting
        self._leaves, self._children, self._shares, self._first_set = waiting
        self._items_of = items_of

    def items(self, path: str) -> Iterator[Keyed[T]]:
        """Yield the recipes at or below a queue, in order."""
        # One loop goes through all queues whose children are asked one by one.
        paths = [path]
        while paths:
            path = paths.pop()
            if path in self._leaves:
                # The sets of a leaf that has become a parent come before those below, as in `compare`.
                yield from self._items_of(path)
            children = self._children.get(path, ())
            if len(children) < 2 or self._order.is_fair(path):
                paths += sorted(children, key=self._share_and_first_set, reverse=True)
            elif self._order.order_of(path) == PRIORITY:
                merged = heapq.merge(*map(self._with_turns, children), key=itemgetter(0))
                yield from (item for _, item in merged)
            else:
                yield from heapq.merge(*map(self.items, children), key=itemgetter(0))

    def _share_and_first_set(self, child: str) -> tuple[int, FirstSet]:
        return self._shares.get(child, 0), self._first_set(child)

    def _with_turns(self, child: str) -> Iterator[tuple[QueueTurn, Keyed[T]]]:
        for item in self.items(child):
            yield self._order.turn(self._waiting, PRIORITY, child, -item[0][0]), item
