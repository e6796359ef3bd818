"""Follow the log: LISTEN first, then read; poll as a backstop; reconnect; deliver whole commits.

LISTEN comes before the first read, so nothing falls between the two. A notification may be lost all the same
(a connection may die unseen), so the tailer looks by itself once in `poll_seconds`; what only that look found
is counted, because it should never happen.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from postgres.errors import AWAY
from store.datastore import connect
from store.mapper import StoredRow
from store.sql import BOUNDED, PAGE_BYTES, SQL, bounded_rows

logger = logging.getLogger(__name__)

CHANNEL = "labledger_log"
GRACE_SECONDS = 0.1
MANY_COMMITS = 3


@dataclass
class TailerCounters:
    """For the metrics: reconnections, and pages that only the backstop poll found.

    Tailers that come one after the other may count together.
    """

    reconnects: int = 0
    backstop_finds: int = 0


class Tailer:
    """Yields pages of rows after a position, each page a number of whole commits, for ever.

    An empty page is yielded when `poll_seconds` pass without news, so that the reader can look around.
    A reader that was cut off goes on where it stopped. Not thread-safe, but for looking at `read_at`, the
    monotonic time of the last look that succeeded, or of the beginning; `close` ends it. `has_unread` says
    whether the last look left something for the next, which then need not wait to be told of it.
    """

    def __init__(
        self,
        url: str,
        after: int = 0,
        page_size: int = 2_000,
        poll_seconds: float = 1.0,
        counters: TailerCounters | None = None,
    ) -> None:
        self.position = after
        self.read_at = time.monotonic()
        self.has_unread = True
        self.counters = TailerCounters() if counters is None else counters
        self._url = url
        self.page_size = page_size
        self._poll_seconds = poll_seconds
        self._connection: psycopg.Connection[Any] | None = None
        self._closed = False

    def __iter__(self) -> Iterator[list[StoredRow]]:
        while not self._closed:
            yield self.next_page(self._poll_seconds)

    def next_page(self, timeout_seconds: float) -> list[StoredRow]:
        """The next page, or an empty one after the time given or when the connection had to be renewed."""
        try:
            connection = self._connected()
            if self.has_unread and (page := self._read(connection)):
                return page
            is_told = self._is_told_of_more(connection, timeout_seconds)
            page = self._read(connection)
            if page and not is_told:
                self._hear_of_it(connection)
            return page
        except AWAY as error:
            if self._connection is not None or self.counters.reconnects == 0:
                logger.warning("log: connection lost, going on from position %d: %s", self.position, error)
            self._disconnect()
            self.counters.reconnects += 1
            time.sleep(min(0.1, timeout_seconds))
            return []

    def skip_to(self, position: int) -> None:
        """The reader knows what is up to there; a position that was read already changes nothing."""
        self.position = max(self.position, position)

    def close(self) -> None:
        self._closed = True
        self._disconnect()

    def _is_told_of_more(self, connection: psycopg.Connection[Any], timeout_seconds: float) -> bool:
        """Most notifications are of what was read with the one before, or of what the reader wrote itself."""
        deadline = time.monotonic() + timeout_seconds
        while furthest := _furthest_told(connection, max(0.0, deadline - time.monotonic())):
            if furthest > self.position:
                return True
        return False

    def _hear_of_it(self, connection: psycopg.Connection[Any]) -> None:
        """What was committed just now shows a moment before its notification comes; one of what was committed
        behind it may come with that one, and none will again.
        """
        furthest = _furthest_told(connection, GRACE_SECONDS)
        if not furthest:
            self.counters.backstop_finds += 1
        self.has_unread |= furthest > self.position

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            self._connection = self._connect()
            self.has_unread = True
        return self._connection

    def _connect(self) -> psycopg.Connection[Any]:
        connection = connect(self._url)
        connection.execute(f"LISTEN {CHANNEL}".encode())
        return connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _read(self, connection: psycopg.Connection[Any]) -> list[StoredRow]:
        looked_at = time.monotonic()
        cursor = connection.cursor(row_factory=tuple_row, binary=True)
        asked = {"after": self.position, "limit": self.page_size, "bytes": PAGE_BYTES}
        found = cursor.execute(BOUNDED["page"], asked, prepare=True).fetchall()
        page, available = bounded_rows(found)
        self.has_unread = len(page) < available or available == self.page_size
        if page and page[-1].position != page[-1].commit_end:
            commit_range = (page[-1].position, page[-1].commit_end)
            rest = cursor.execute(SQL["rest_of_commit"], commit_range).fetchall()
            page += map(StoredRow._make, rest)
        if page:
            self.position = page[-1].position
        self.read_at = looked_at
        return page


def is_of_many(page: Sequence[StoredRow]) -> bool:
    """So many commits are not of one person who waits for what he did."""
    return len({row.commit_end for row in page}) >= MANY_COMMITS


def _furthest_told(connection: psycopg.Connection[Any], timeout_seconds: float) -> int:
    """The last position that a notification has named by then; 0: none came. One without any asks to look."""
    told = connection.notifies(timeout=timeout_seconds, stop_after=1)
    return max((_position(each.payload) for each in told), default=0)


def _position(payload: str) -> int:
    """Return the position that a notification names; sys.maxsize for another payload, which any role may
    send.
    """
    try:
        return int(payload)
    except ValueError:
        return sys.maxsize
