"""The world of a partition with changes that can be rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from replay.audit.partition_world import PartitionWorld
from replay.audit.tables import DEFAULT_PARTITION

K = TypeVar("K")
V = TypeVar("V")


class TentativeWorld(PartitionWorld):
    """A partition's world that records tentative changes of its tables, until they are confirmed. Mutable."""

    def __init__(self, partition: int = DEFAULT_PARTITION) -> None:
        super().__init__(partition)
        self._changes: list[tuple[dict[Any, Any], Any, Any]] = []
        self._tentative_depth = 0

    @contextmanager
    def tentatively(self) -> Iterator[None]:
        """Roll back all changes at the end of the context."""
        mark = self.begin_tentative()
        try:
            yield
        finally:
            self.rollback(mark)

    def begin_tentative(self) -> int:
        """Begin tentative changes and return their mark, for `confirm` or `rollback`."""
        self._tentative_depth += 1
        return len(self._changes)

    def rollback(self, mark: int = 0) -> None:
        self._tentative_depth -= 1
        while len(self._changes) > mark:
            table, key, before = self._changes.pop()
            present = table.get(key)
            super().put(table, key, before)
            self._index(table, key, present, before)

    def confirm(self) -> None:
        self._tentative_depth -= 1
        self._changes.clear()

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        before = table.get(key)
        if self._tentative_depth:
            self._changes.append((table, key, before))
        super().put(table, key, value)
        self._index(table, key, before, value)

    def _index(self, table: dict[K, V], key: K, before: V | None, value: V | None) -> None:
        """Update the indexes of a subclass after a change of an entry, also after one that is rolled back."""
