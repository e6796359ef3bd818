"""The tailer, which follows the log and delivers whole commits. It listens, polls and reconnects.

LISTEN comes before the first read, so that no event between them is missed. A notification may still be lost
(a connection may die unnoticed), so the tailer also polls every `poll_seconds`. Pages that only a poll found
are counted, because they should never occur.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import tuple_row

from domain.partition_numbers import read_by
from postgres.errors import DATABASE_ERRORS
from store.datastore import connect
from store.mapper import StoredRow
from store.sql import BOUNDED, MAX_PAGE_BYTES, SQL, bounded_rows

logger = logging.getLogger(__name__)

CHANNEL = "labledger_log"
GRACE_SECONDS = 0.1
MANY_COMMITS = 3


class Notified(NamedTuple):
    """The last position of new events of one partition; None if the partition is not named."""

    position: int
    partition: int | None


@dataclass
class TailerCounters:
    """Counts of reconnections, and of pages that only a poll found; successive tailers may share them."""

    reconnects: int = 0
    backstop_finds: int = 0


class Tailer:
    """An endless iterator of pages of rows after a position. Each page consists of whole commits.

    A page is empty if `poll_seconds` pass without new events. After a lost connection the tailer continues;
    `close` ends it. `read_at` is the monotonic time of the last successful read, or of the creation.
    `has_unread` is True if the next page need not wait. With a `partition` it reads what the scheduler of
    that partition reads, otherwise everything. Not thread-safe, except for reading `read_at`.
    """

    def __init__(
        self,
        url: str,
        after: int = 0,
        page_size: int = 2_000,
        poll_seconds: float = 1.0,
        counters: TailerCounters | None = None,
        partition: int | None = None,
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
        self._partitions = None if partition is None else read_by(partition)

    def __iter__(self) -> Iterator[list[StoredRow]]:
        while not self._closed:
            yield self.next_page(self._poll_seconds)

    def next_page(self, timeout_seconds: float) -> list[StoredRow]:
        """Return the next page, or an empty one after the timeout or a database error."""
        try:
            connection = self._connected()
            if self.has_unread and (page := self._read(connection)):
                return page
            is_notified = self._wait_for_news(connection, timeout_seconds)
            page = self._read(connection)
            if page and not is_notified:
                self._expect_notification(connection)
            return page
        except DATABASE_ERRORS as error:
            if self._connection is not None or self.counters.reconnects == 0:
                logger.warning("log: connection lost, continuing from position %d: %s", self.position, error)
            self._disconnect()
            self.counters.reconnects += 1
            time.sleep(min(0.1, timeout_seconds))
            return []

    def skip_to(self, position: int) -> None:
        """Skip the rows up to a position, because the caller has them. Never moves back."""
        self.position = max(self.position, position)

    def close(self) -> None:
        self._closed = True
        self._disconnect()

    def _wait_for_news(self, connection: psycopg.Connection[Any], timeout_seconds: float) -> bool:
        """Return whether a notification of an unread position arrives in time. Others are ignored."""
        deadline = time.monotonic() + timeout_seconds
        while furthest := self._last_notified(connection, deadline):
            if furthest > self.position:
                return True
        return False

    def _last_notified(self, connection: psycopg.Connection[Any], deadline: float) -> int:
        """Return the highest position in the next notifications of what is read; 0 after the deadline."""
        while notified := _notified(connection, max(0.0, deadline - time.monotonic())):
            positions = [each.position for each in notified if self._reads(each.partition)]
            if positions:
                return max(positions)
        return 0

    def _reads(self, partition: int | None) -> bool:
        return self._partitions is None or partition is None or partition in self._partitions

    def _expect_notification(self, connection: psycopg.Connection[Any]) -> None:
        """Wait for the notification of rows read before it came, and note later rows that it names."""
        furthest = self._last_notified(connection, time.monotonic() + GRACE_SECONDS)
        if not furthest:
            self.counters.backstop_finds += 1
        self.has_unread |= furthest > self.position

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            self._connection = self._connect()
            self._connection.execute(f"LISTEN {CHANNEL}".encode())
            self.has_unread = True
        return self._connection

    def _connect(self) -> psycopg.Connection[Any]:
        return connect(self._url)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _read(self, connection: psycopg.Connection[Any]) -> list[StoredRow]:
        read_at = time.monotonic()
        cursor = connection.cursor(row_factory=tuple_row, binary=True)
        params: dict[str, Any] = {"after": self.position, "limit": self.page_size, "bytes": MAX_PAGE_BYTES}
        if self._partitions is None:
            query = BOUNDED["page"]
        else:
            query, params["partitions"] = BOUNDED["page_of"], self._partitions
        result = cursor.execute(query, params, prepare=True).fetchall()
        page, self.has_unread = bounded_rows(result, self.page_size, MAX_PAGE_BYTES)
        if page and page[-1].position != page[-1].commit_end:
            commit_range = (page[-1].position, page[-1].commit_end)
            rest = cursor.execute(SQL["rest_of_commit"], commit_range).fetchall()
            page += map(StoredRow._make, rest)
        if page:
            self.position = page[-1].position
        self.read_at = read_at
        return page


def has_many_commits(page: Sequence[StoredRow]) -> bool:
    """Return whether the page has more commits than one waiting user causes."""
    return len({row.commit_end for row in page}) >= MANY_COMMITS


def _notified(connection: psycopg.Connection[Any], timeout_seconds: float) -> list[Notified]:
    """Return what is notified within the timeout, as soon as there is something."""
    notifications = connection.notifies(timeout=timeout_seconds, stop_after=1)
    return [_content(each.payload) for each in notifications]


def _content(payload: str) -> Notified:
    """Return the content of a payload. Any role can send other text, which may mean anything."""
    try:
        position, partition = map(int, payload.split(" "))
    except ValueError:
        return Notified(sys.maxsize, None)
    return Notified(position, partition)
