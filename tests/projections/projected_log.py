"""A log with read models, which tests fill and query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from domain.events import Change, Event, Recorded
from domain.partition_numbers import DEFAULT_NUMBER, partition_of
from projections.projector import Projector
from projections.sql import ANY_DOCUMENT, ANY_LOCK, ANY_SYSTEM, QUERIES
from store.datastore import connect
from store.event_log import EventLog
from store.requests import AppendRequest
from tests.harness.appends import STAMP, positions
from tests.harness.databases import TestDatabase

Happened = tuple[str, Event]


@contextmanager
def projected_log(database: TestDatabase) -> Iterator[ProjectedLog]:
    with closing(EventLog(database.service_url)) as log, connect(database.service_url) as connection:
        yield ProjectedLog(log, connection)


class ProjectedLog:
    """A log with read models. `commit` appends and projects, `write` only appends."""

    def __init__(self, log: EventLog, connection: Connection[Any]) -> None:
        self.log = log
        self._connection = connection
        self._projector = Projector(connection)
        self._versions = Counter[str]()

    def commit(self, *happened: Happened, partition: int | None = None) -> range:
        """Append and project events; return the positions of the commit."""
        written = self.write(*happened, partition=partition)
        self.project(self.unread())
        return written

    def write(self, *happened: Happened, partition: int | None = None, actor: str = STAMP.actor) -> range:
        """Append events; a partition is that of their subjects."""
        stamp = replace(STAMP, actor=actor)
        subjects = dict.fromkeys(subject for subject, _ in happened)
        expected = {subject: self._versions[subject] for subject in subjects}
        changes = tuple(Change(subject, event, stamp) for subject, event in happened)
        number = partition_of(expected) if partition is None else partition
        (outcome,) = self.log.append(
            [AppendRequest(f"commit/{self.log.end()}", changes, expected, partition=number)]
        )
        self._versions.update(subject for subject, _ in happened)
        return positions(outcome)

    def unread(self) -> Sequence[Recorded]:
        """Return the events that are not projected, in whole commits."""
        page, _ = self.log.select(self._projector.position, self.log.end(), 100_000)
        return page

    def project(self, page: Sequence[Recorded]) -> None:
        self._projector.project(page)

    def begin_again(self) -> None:
        """Begin with a new projector, after the read models were emptied."""
        self._projector = Projector(self._connection)

    def rows(self, query: str, **params: Any) -> list[dict[str, Any]]:
        """Return the rows of a named query, as of the end unless `at` is given."""
        unused = {**ANY_DOCUMENT, **dict.fromkeys(("hidden", "fqdns", "step"))}
        asked = {"at": self._projector.position, **unused, **params}
        with self._connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(QUERIES[query], asked).fetchall()

    def row(self, query: str, **params: Any) -> dict[str, Any]:
        (row,) = self.rows(query, **params)
        return row

    def system(self, fqdn: str, **params: Any) -> dict[str, Any]:
        found = self.row("systems", **{**ANY_SYSTEM, "fqdn": fqdn}, after="", limit=1, **params)
        return {**found, **self.row("version", subject=f"system/{fqdn}", **params)}

    def idle(self, **params: Any) -> dict[str, str]:
        """Return the idle pool: system -> lab controller."""
        found = self.rows("idle_pool", after="", limit=1_000, **params)
        return {row["fqdn"]: row["lab_controller"] for row in found}

    def queue(self, **params: Any) -> list[dict[str, Any]]:
        start = {"not_assigned": False, "minus_priority": -99, "submission": 0, "recipe_id": 0}
        return self.rows("queue", **{**start, "partitions": [DEFAULT_NUMBER], "limit": 1_000, **params})

    def recipe(self, recipe_id: int, **params: Any) -> dict[str, Any]:
        return self.row("recipe", recipe_id=recipe_id, **params)

    def locks(self, **params: Any) -> list[dict[str, Any]]:
        start = {"after_level": "", "after_name": "", "after_recipe_id": 0, "after_mode": ""}
        return self.rows("locks", **{**ANY_LOCK, **start, "limit": 1_000, **params})

    def commands(self, lab_controller: str, *, unfinished: bool = False) -> list[dict[str, Any]]:
        asked = {"after": 0, "limit": 1_000, "unfinished": unfinished, "then": False}
        return self.rows("commands", lab_controller=lab_controller, **asked)
