"""The event log without a database, for tests and simulations: an `EventLog` over `log_tables`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

import psycopg

from runtime.locks import LockClass
from store.datastore import Datastore
from store.event_log import EventLog
from store.log_tables import STATEMENTS, LogTables, Rows
from store.tailer import Tailer


class Cursor:
    """A cursor over the rows that `run` returns for a statement and its parameters."""

    def __init__(self, run: Callable[[bytes, Any], Rows]) -> None:
        self._run = run
        self._rows: Rows = ()

    def execute(self, query: bytes, params: Any = (), **_: Any) -> Cursor:
        self._rows = self._run(query, params)
        return self

    @property
    def rowcount(self) -> int:
        return len(self._rows)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._rows)

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows[0] if self._rows else None


class InMemoryDatastore:
    """The part of `store.datastore.Datastore` that the library's recorder needs, without a server."""

    schema, originator_id_type, lock_timeout = "log", "text", 0

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.db_type_names: set[str] = set()

    def register_type_adapters(self) -> None:
        """Do nothing: no value is sent to a server."""


class _Datastore(InMemoryDatastore):
    """Sessions of one log, for any number of threads."""

    def __init__(self, tables: LogTables) -> None:
        super().__init__()
        self.tables = tables
        self.changed = LockClass.MEMORY_LOG.condition()

    def connect(self) -> _Connection:
        return _Connection(self)

    @contextmanager
    def get_connection(self) -> Iterator[_Connection]:
        yield self.connect()

    def close(self) -> None:
        """Do nothing: the log ends with its last reference."""


class _Connection:
    """A session that is notified of new positions, each once."""

    def __init__(self, datastore: _Datastore) -> None:
        self._tables = datastore.tables
        self._changed = datastore.changed
        self._notified_of = self._tables.end

    def execute(self, query: bytes) -> None:
        """Do nothing for LISTEN: every session is notified."""

    def cursor(self, **_: Any) -> Cursor:
        return Cursor(self._run)

    def _run(self, query: bytes, params: Any) -> Rows:
        with self._changed:
            before = self._tables.end
            rows = STATEMENTS[query](self._tables, params)
            if self._tables.end > before:
                self._changed.notify_all()
        return rows

    def notifies(self, *, timeout: float, stop_after: int) -> list[psycopg.Notify]:
        with self._changed:
            if not self._changed.wait_for(lambda: self._tables.end > self._notified_of, timeout):
                return []
            news, self._notified_of = self._tables.events[self._notified_of :], self._tables.end
        last = {row.partition: row.position for row in news}
        return [psycopg.Notify("", f"{position} {partition}", 0) for partition, position in last.items()]

    def close(self) -> None:
        """Do nothing: the session has no resources."""


class InMemoryLog(EventLog):
    """An event log in memory, for all topics. Raises KeyError for a statement that is not in `STATEMENTS`."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.tables = LogTables(now)
        self._sessions = _Datastore(self.tables)
        super().__init__("", datastore=cast(Datastore, self._sessions))

    def follow(self, after: int = 0, **options: Any) -> Tailer:
        return _Tailer(self._sessions, after, **options)


class _Tailer(Tailer):
    def __init__(self, datastore: _Datastore, after: int, **options: Any) -> None:
        super().__init__("", after, **options)
        self._datastore = datastore

    def _connect(self) -> psycopg.Connection[Any]:
        return cast("psycopg.Connection[Any]", self._datastore.connect())
