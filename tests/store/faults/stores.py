"""The library's stock recorder and ours, asked by the very same calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from psycopg import conninfo

from store.datastore import Datastore
from store.recorder import Recorder
from tests.harness.databases import TestDatabase

Events = Sequence[StoredEvent]


def stored(*subjects: str, at: int = 0, size: int = 2) -> list[StoredEvent]:
    """Rows as a mapper makes them: one event of each subject, after the version given."""
    return [StoredEvent(subject, at + 1, "test.happened", b"x" * size) for subject in subjects]


class Stock(PostgresApplicationRecorder):
    """Only a way to open it by URL; everything that is asked of it is the library's own."""

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


@dataclass(frozen=True)
class Store:
    """`faulty`: whether the fault is expected of it."""

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
        yield Store("ours", False, "log.events", Recorder(datastore))
    finally:
        datastore.close()


def through(url: str, port: int) -> str:
    """The same database by way of a proxy on loopback, in plain text so that it can be read along."""
    parts: SplitResult = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    return parts._replace(
        netloc=f"{login}@127.0.0.1:{port}", query="sslmode=disable&gssencmode=disable"
    ).geturl()
