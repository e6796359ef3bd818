"""The log but for some topics, from a position on, in a session of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from psycopg.rows import tuple_row

from domain.events import Recorded
from store.datastore import connect
from store.mapper import EventMapper
from store.sql import SQL

# So many rows are in memory at once: they may be whole jobs.
ROWS_AT_ONCE = 500


class LogPart:
    """Close it. Raises what psycopg does while the database is away."""

    def __init__(self, url: str, left_out: Sequence[str], after: int = 0) -> None:
        self.position = after
        self._left_out = left_out
        self._mapper = EventMapper()
        self._connection = connect(url)

    def upto(self, position: int) -> Iterator[Recorded]:
        """What comes next, up to a position that is in the log. To be read to its end."""
        asked = {"after": self.position, "upto": position, "left_out": self._left_out}
        cursor = self._connection.cursor(row_factory=tuple_row)
        rows = cursor.stream(SQL["all_but"], asked, binary=True, size=ROWS_AT_ONCE)
        yield from map(self._mapper.recorded, rows)
        self.position = position

    def close(self) -> None:
        self._connection.close()
