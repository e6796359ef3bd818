"""The order among queues: which leaf says next which of its recipes gets a system (design 6.2).

Each parent says which child is next, by its order:

- `fifo`: the child whose first recipe stands first, as if the recipes of all children stood in one line.
- `fair`: the child with the least used systems for each guaranteed one, where a queue without a guarantee
  counts as one with 1; then as `fifo`.
- `priority`: the child whose first recipe has the highest effective priority plus the offset of the child, of
  a fenced child the offset alone; then as `fair`.

The first recipe of a child is the first that could take the system, so a child without any is passed over.
Recipes are looked for lazily: a parent with the order `fair` asks only children that may be next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby
from math import lcm
from typing import NamedTuple

from domain.queues.tree import FAIR, PRIORITY, ROOT, Queue, QueueTree, parent_of, paths_upward


class First(NamedTuple):
    """The leaf that is next, and its first recipe."""

    leaf: str
    head: tuple[int, ...]


Head = tuple[int, ...]
"""The place of a recipe: the negative effective priority on the system, then the other parts of the order."""

HeadOf = Callable[[str], Head | None]
"""Returns the place of the first recipe of a leaf, None if no recipe of it could take the system."""


class QueueOrder:
    """The order of the queues of a tree. Immutable, but for cached results."""

    def __init__(self, tree: QueueTree) -> None:
        self._tree = tree

    @cached_property
    def is_one_line(self) -> bool:
        """Return whether the recipes of all queues stand in one line, because no parent has another order."""
        queues = (*self._tree.by_path.values(), *self._tree.vanished)
        return all(queue.order not in (FAIR, PRIORITY) for queue in queues)

    def first(self, leaves: Iterable[str], used: Mapping[str, int], head_of: HeadOf) -> First | None:
        """Return the leaf that is next among leaves with waiting recipes, None if none has a first recipe.

        `used` has the number of systems that the recipes of each queue hold, with those of the queues below.
        """
        return _Search(self._tree, _children(leaves), used, head_of).first(ROOT)


def _children(leaves: Iterable[str]) -> dict[str, list[str]]:
    """Return the paths below each queue that leads to a leaf."""
    found: dict[str, dict[str, None]] = {}
    for leaf in leaves:
        for path in paths_upward(leaf):
            found.setdefault(parent_of(path), {})[path] = None
    return {path: list(children) for path, children in found.items()}


class _Search:
    """One search for the next leaf of a system."""

    def __init__(
        self, tree: QueueTree, children: Mapping[str, list[str]], used: Mapping[str, int], head_of: HeadOf
    ) -> None:
        self._tree = tree
        self._children = children
        self._used = used
        self._head_of = head_of

    def first(self, path: str) -> First | None:
        """Return the next leaf at or below a queue."""
        children = self._children.get(path)
        if children is None:
            head = self._head_of(path)
            return None if head is None else First(path, head)
        order = self._queue(path).order
        if order == FAIR:
            return self._fairest(children)
        if order == PRIORITY:
            return self._most_urgent(children)
        return min(self._firsts(children), key=lambda found: found.head, default=None)

    def _queue(self, path: str) -> Queue:
        return self._tree.find(path) or Queue(path)

    def _firsts(self, children: Iterable[str]) -> Iterator[First]:
        return (found for found in map(self.first, children) if found is not None)

    def _shares(self, children: list[str]) -> dict[str, int]:
        """Return used / guaranteed of each child, multiplied by a common number, so that all are whole."""
        guaranteed = {child: self._queue(child).guaranteed or 1 for child in children}
        common = lcm(*guaranteed.values())
        return {child: self._used.get(child, 0) * (common // guaranteed[child]) for child in children}

    def _fairest(self, children: list[str]) -> First | None:
        shares = self._shares(children)
        for _, equal in groupby(sorted(children, key=shares.__getitem__), key=shares.__getitem__):
            found = min(self._firsts(equal), key=lambda first: first.head, default=None)
            if found is not None:
                return found
        return None

    def _most_urgent(self, children: list[str]) -> First | None:
        shares = self._shares(children)

        def turn(child: str, found: First) -> tuple[int, int, Head]:
            queue = self._queue(child)
            priority = 0 if queue.fence else -found.head[0]
            return -(priority + queue.priority_offset), shares[child], found.head

        firsts = ((child, found) for child in children for found in self._firsts([child]))
        return min(firsts, key=lambda each: turn(*each), default=(ROOT, None))[1]
