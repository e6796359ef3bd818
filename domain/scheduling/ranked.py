"""Sets of recipes in rank order, with cheap access to the first one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar


class Rank(NamedTuple):
    """Sort key: nominal priority, highest first, submission, and the recipe id, which orders its set."""

    # A named tuple takes 250 ns longer to create than a plain one: 0.3 % of the instructions of a decision.
    negative_priority: int
    submission: int
    recipe_id: int

    def is_before_set_of(self, other: Rank) -> bool:
        """Return whether the set of this recipe is before that of another one."""
        return self[:2] < other[:2]


K = TypeVar("K", bound=tuple[int, ...])


class Ranked(Generic[K]):
    """A sorted set of keys. Mutable. Adding is O(log n); a removed key leaves the heap once it is first."""

    def __init__(self, keys: Iterable[K] = ()) -> None:
        self._heap: list[K] = sorted(keys)
        self._members: set[K] = set(self._heap)

    def __len__(self) -> int:
        return len(self._members)

    def add(self, key: K) -> None:
        if key not in self._members:
            self._members.add(key)
            heapq.heappush(self._heap, key)

    def update(self, keys: Iterable[K]) -> None:
        for key in keys:
            self.add(key)

    def discard(self, key: K) -> None:
        self._members.discard(key)
        if len(self._heap) > 64 and len(self._heap) > 4 * len(self._members):
            self._heap = sorted(self._members)

    def first(self) -> K | None:
        while self._heap and self._heap[0] not in self._members:
            heapq.heappop(self._heap)
        return self._heap[0] if self._heap else None

    def unordered(self) -> Iterable[K]:
        """Return the keys in any order, for counting."""
        return self._members

    def __iter__(self) -> Iterator[K]:
        """Yield the keys in rank order; the first k cost O(k log k). A change invalidates the iterator."""
        self.first()
        frontier = [(self._heap[0], 0)] if self._heap else []
        last: K | None = None
        while frontier:
            key, index = heapq.heappop(frontier)
            # A key that was removed and added again is in the heap twice.
            if key in self._members and key != last:
                last = key
                yield key
            for child in (2 * index + 1, 2 * index + 2):
                if child < len(self._heap):
                    heapq.heappush(frontier, (self._heap[child], child))


class RankedByPriority(Ranked[Rank]):
    """Ranks of recipes, from which those of each nominal priority can be read apart. Mutable."""

    def __init__(self, ranks: Iterable[Rank] = ()) -> None:
        super().__init__(ranks)
        # Computed at the first call of `by_priority`; most groups get none.
        self._by_priority: dict[int, Ranked[Rank]] | None = None

    def add(self, key: Rank) -> None:
        super().add(key)
        if self._by_priority is not None:
            self._by_priority.setdefault(key.negative_priority, Ranked()).add(key)

    def discard(self, key: Rank) -> None:
        super().discard(key)
        if self._by_priority is not None:
            ranked = self._by_priority[key.negative_priority]
            ranked.discard(key)
            if not len(ranked):
                del self._by_priority[key.negative_priority]

    def by_priority(self) -> Iterator[Ranked[Rank]]:
        """Yield the ranks of each nominal priority, highest first."""
        if self._by_priority is None:
            by_priority = groupby(sorted(self._members), key=itemgetter(0))
            self._by_priority = {priority: Ranked(of_priority) for priority, of_priority in by_priority}
        return (ranked for _, ranked in sorted(self._by_priority.items()))
