"""The library's stock recorder and ours, behind the same calls."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from eventsourcing.persistence import (
    ApplicationRecorder,
    IntegrityError,
    InterfaceError,
    Notification,
    OperationalError,
    StoredEvent,
    Subscription,
)
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from eventsourcing.utils import retry
from psycopg import conninfo

from store.datastore import Datastore
from store.mapper import StoredRow
from store.recorder import NewRow, Recorder, StoredAppend
from store.requests import Committed, Outcome
from store.tailer import Tailer
from tests.harness.databases import TestDatabase

Events = Sequence[StoredEvent]


def stored(*subjects: str, at: int = 0, size: int = 2) -> list[StoredEvent]:
    """Return one stored event for each subject, after the given version."""
    return [StoredEvent(subject, at + 1, "test.happened", b"x" * size) for subject in subjects]


class Stock(PostgresApplicationRecorder):
    """The library's recorder, opened by URL."""

    def __init__(self, url: str, enable_db_functions: bool = False, pool_size: int = 3) -> None:
        given = conninfo.conninfo_to_dict(url)
        datastore = PostgresDatastore(
            *(str(given.get(name) or "") for name in ("dbname", "host", "port", "user", "password")),
            originator_id_type="text",
            pool_size=pool_size,
            enable_db_functions=enable_db_functions,
        )
        super().__init__(datastore)
        self.create_table()


class Ours(Recorder):
    """Our recorder and tailer behind the calls of the library."""

    def insert_events(self, stored_events: Events, **kwargs: Any) -> Sequence[int]:
        """Append one request, which expects the versions before its first ones."""
        expected: dict[str, int] = {}
        for event in stored_events:
            expected.setdefault(str(event.originator_id), event.originator_version - 1)
        command_id = kwargs.get("command_id") or uuid.uuid4().hex
        outcome = self._insert_again(StoredAppend(command_id, rows_of(stored_events), expected))
        if not isinstance(outcome, Committed):
            raise IntegrityError(str(outcome))
        return range(outcome.first_position, outcome.position + 1)

    # As often as the library's recorder retries.
    @retry((InterfaceError, OperationalError), max_attempts=10, wait=0.2)
    def _insert_again(self, request: StoredAppend) -> Outcome:
        (outcome,) = self.insert([request])
        return outcome

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        return TailedSubscription(self, self.datastore.url, gt)


class TailedSubscription(Subscription[ApplicationRecorder]):
    def __init__(self, recorder: ApplicationRecorder, url: str, gt: int | None) -> None:
        super().__init__(recorder, gt)
        self._tailer = Tailer(url, after=gt or 0)
        self._rows = self._delivered()

    def __exit__(self, *args: object, **kwargs: object) -> None:
        super().__exit__(*args, **kwargs)
        self._tailer.close()

    def _delivered(self) -> Iterator[StoredRow]:
        while not self._has_been_stopped:
            yield from self._tailer.next_page(1.0)

    def __next__(self) -> Notification:
        row = next(self._rows)
        return Notification(row.subject, row.version, row.topic, row.state, row.position)


def rows_of(events: Iterable[StoredEvent]) -> list[NewRow]:
    return [
        (str(event.originator_id), event.originator_version, event.topic, event.state) for event in events
    ]


@dataclass(frozen=True)
class Store:
    """A recorder. `faulty` says that the fault is expected."""

    name: str
    faulty: bool
    table: str
    recorder: PostgresApplicationRecorder


@contextmanager
def stock(
    database: TestDatabase, url: str | None = None, enable_db_functions: bool = False
) -> Iterator[Store]:
    recorder = Stock(url or database.owner_url, enable_db_functions)
    try:
        yield Store("stock", True, "public.stored_events", recorder)
    finally:
        recorder.datastore.close()


@contextmanager
def ours(database: TestDatabase, url: str | None = None) -> Iterator[Store]:
    datastore = Datastore(url or database.service_url, pool_size=3)
    try:
        yield Store("ours", False, "log.events", Ours(datastore))
    finally:
        datastore.close()


def through(url: str, port: int) -> str:
    """Return the URL through a proxy on loopback, without encryption, which the proxy could not read."""
    parts: SplitResult = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    return parts._replace(
        netloc=f"{login}@127.0.0.1:{port}", query="sslmode=disable&gssencmode=disable"
    ).geturl()
