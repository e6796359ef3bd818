"""A reader of the log that excludes topics, in a session of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from psycopg.rows import tuple_row

from domain.events import Recorded
from store.datastore import connect
from store.mapper import EventMapper
from store.sql import SQL

# Maximum number of rows in memory; a row may contain a whole job.
MAX_ROWS = 500


class LogPart:
    """A reader of the log after a position, without the excluded topics. Raises the errors of psycopg."""

    def __init__(self, url: str, excluded_topics: Sequence[str], after: int = 0) -> None:
        self.position = after
        self._excluded_topics = excluded_topics
        self._mapper = EventMapper()
        self._connection = connect(url)

    def upto(self, position: int) -> Iterator[Recorded]:
        """Yield the next events up to an existing position. Exhaust the iterator before the next call."""
        params = {"after": self.position, "upto": position, "excluded_topics": self._excluded_topics}
        cursor = self._connection.cursor(row_factory=tuple_row)
        rows = cursor.stream(SQL["all_but"], params, binary=True, size=MAX_ROWS)
        yield from map(self._mapper.recorded, rows)
        self.position = position

    def close(self) -> None:
        self._connection.close()
