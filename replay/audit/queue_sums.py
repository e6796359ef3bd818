"""The usage of queues, counted twice: by the recipes that hold systems, and by the systems in use."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple, TypeVar

from replay.audit.queue_tree import paths_upward

K = TypeVar("K")
V = TypeVar("V")


class QueueInPartition(NamedTuple):
    """The number of a partition and the path of one of its queues."""

    partition: int
    path: str


@lru_cache(maxsize=10_000)
def upward(queue: QueueInPartition) -> tuple[QueueInPartition, ...]:
    """Return the queue and the queues above it."""
    return tuple(QueueInPartition(queue.partition, path) for path in paths_upward(queue.path))


class QueueSums:
    """The used systems of each queue. Mutable: `hold` and `use` note each change of a recipe or system.

    `used` counts the systems in use by recipes of a queue and of the queues below it, `below` those of the
    queues directly below it together. `held` counts the recipes of the queue itself that hold a system.
    """

    def __init__(self) -> None:
        self.used = Counter[QueueInPartition]()
        self.below = Counter[QueueInPartition]()
        self.held = Counter[QueueInPartition]()
        self._of_recipes: dict[int, QueueInPartition] = {}
        self._of_systems: dict[str, QueueInPartition] = {}
        self._reported: dict[QueueInPartition, int] = {}

    def hold(self, recipe_id: int, queue: QueueInPartition | None) -> None:
        """Note the queue for which a recipe holds a system, None if it holds none."""
        before = _replace(self._of_recipes, recipe_id, queue)
        if before != queue:
            for each, step in ((before, -1), (queue, 1)):
                if each is not None:
                    self.held[each] += step

    def use(self, fqdn: str, queue: QueueInPartition | None) -> QueueInPartition | None:
        """Note the queue whose recipe uses a system, None if none does; return the queue before."""
        before = _replace(self._of_systems, fqdn, queue)
        if before != queue:
            for each, step in ((before, -1), (queue, 1)):
                if each is not None:
                    self._count(each, step)
        return before

    def _count(self, queue: QueueInPartition, step: int) -> None:
        for each in upward(queue):
            self.used[each] += step
        for above in upward(queue)[1:]:
            self.below[above] += step

    def report(self, queue: QueueInPartition) -> bool:
        """Return whether the used systems of a queue are not the sum of its own and those below.

        A difference is reported once, not after each commit that has the same.
        """
        difference = self.used[queue] - self.held[queue] - self.below[queue]
        before = _replace(self._reported, queue, difference or None) or 0
        return difference not in (0, before)

    def described(self, queue: QueueInPartition) -> str:
        used, held, below = self.used[queue], self.held[queue], self.below[queue]
        what = f"{used} systems are used, but its recipes hold {held}, and the queues below use {below}"
        return f"in partition {queue.partition}, {what}"


def _replace(table: dict[K, V], key: K, value: V | None) -> V | None:
    """Set an entry, or delete it (None); return the entry before."""
    before = table.get(key)
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
    return before
