"""A mapper that all processes of a seed share, so that each row is decoded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.events import Recorded
from store.mapper import EventMapper, StoredRow


class SharedMapper(EventMapper):
    """The mapper of production with a cache. `spoilt` finds events that a process has changed in memory."""

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
                yield f"the event at position {row.position} was changed in memory"
