"""Rows to events, once for all processes of a seed: each would read the same out of the same row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.events import Recorded
from store.mapper import EventMapper, StoredRow


class SharedMapper(EventMapper):
    """Production's, but that what was read is remembered. `spoilt`: where somebody has changed an event."""

    def __init__(self) -> None:
        super().__init__()
        self._read: dict[int, tuple[bytes, Recorded]] = {}

    def recorded(self, row: StoredRow) -> Recorded:
        found = self._read.get(row.position)
        if found is None or found[0] is not row.state:
            found = self._read[row.position] = (row.state, super().recorded(row))
        return found[1]

    def spoilt(self, log: Sequence[StoredRow]) -> Iterator[str]:
        for row in log:
            if EventMapper.recorded(self, row) != self.recorded(row):
                yield f"somebody has changed the event at position {row.position} in memory"
