"""Rows to events, once for all processes of a seed: each would read the same out of the same row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.events import Recorded
from store.mapper import EventMapper, Row


class SharedMapper(EventMapper):
    """Production's, but that what was read is remembered. `spoilt`: where somebody has changed an event."""

    def __init__(self) -> None:
        super().__init__()
        self._read: dict[int, tuple[bytes, Recorded]] = {}

    def recorded(self, row: Row) -> Recorded:
        found = self._read.get(row[0])
        if found is None or found[0] is not row[6]:
            found = self._read[row[0]] = (row[6], super().recorded(row))
        return found[1]

    def spoilt(self, log: Sequence[Row]) -> Iterator[str]:
        for row in log:
            if EventMapper.recorded(self, row) != self.recorded(row):
                yield f"somebody has changed the event at position {row[0]} in memory"
