"""The library's PostgreSQL recorder with one statement per append and no pipeline.

The library's own calls to write and to subscribe may lose, duplicate or delay events (docs/event-store.md).
They are disabled here. `tests/store/faults` shows each fault in the library's recorder, and its absence here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import psycopg
from eventsourcing.persistence import ApplicationRecorder, IntegrityError, StoredEvent, Subscription
from eventsourcing.postgres import PostgresApplicationRecorder
from psycopg.rows import tuple_row

from domain.job.submission import Original
from domain.partition_numbers import EVERYBODY
from domain.recipe.lifecycle import FINISHED
from postgres.binary_copy import ArrayColumn
from store.datastore import Datastore
from store.requests import Committed, Conflict, Fence, Fenced, Outcome, PowerChange
from store.sql import APPENDS, APPENDS_UNLESS_JOINED

FINISHED_TOPICS = frozenset(f"recipe.{state}" for state in FINISHED)

NewRow = tuple[str, int, str, bytes]
"""Subject, version, topic and state of an event to append."""


@dataclass(frozen=True)
class StoredAppend:
    """An append request as rows; `actor`, author of all, and `new_recipes` (by owner) are for the quotas."""

    command_id: str
    rows: Sequence[NewRow]
    expected: Mapping[str, int]
    fence: Fence | None = None
    digest: bytes | None = None
    answer: bytes | None = None
    actor: str | None = None
    new_recipes: Mapping[str, int] = field(default_factory=dict)
    original: Original | None = None
    partition: int = EVERYBODY
    joins_seen: int | None = None
    power: Sequence[PowerChange] = ()
    address: str | None = None

    @property
    def byte_count(self) -> int:
        """Return the number of bytes that count for the quota of the author."""
        return sum(len(state) for *_, state in self.rows) + (
            len(self.original.content) if self.original else 0
        )


class Recorder(PostgresApplicationRecorder):
    """A recorder that appends with `log.append`. Migrations create the tables."""

    datastore: Datastore

    def __init__(self, datastore: Datastore) -> None:
        super().__init__(datastore, events_table_name="events")

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int] | None:
        """Raise NotImplementedError: the library's insert has no command id, fence or expected versions."""
        raise NotImplementedError("events are appended by store.event_log.EventLog.append only")

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        """Raise NotImplementedError: the library's subscription ends with its session, and may be late."""
        raise NotImplementedError("the log is followed by store.tailer.Tailer only")

    def insert(self, requests: Sequence[StoredAppend]) -> list[Outcome]:
        """Insert all requests in one statement; return an outcome for each. Raises the library's errors."""
        with self.datastore.get_connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row, binary=True)
            try:
                rows = cursor.execute(*_statement(requests), prepare=True).fetchall()
            except psycopg.errors.UniqueViolation as error:
                # Two events of one request have the same version: an error of the caller, not a race.
                raise IntegrityError(str(error)) from error
        return [_outcome(request, row) for request, row in zip(requests, rows, strict=True)]


def _statement(requests: Sequence[StoredAppend]) -> tuple[bytes, list[Any]]:
    """Return the statement that appends these requests, without unused parts, and its parameters."""
    recipes, originals = _recipes(requests), _originals(requests)
    power, addresses = _power(requests), _addresses(requests)
    with_recipes, with_originals = any(recipes), any(originals)
    with_power, with_addresses = any(power), any(addresses)
    if any(request.joins_seen is not None for request in requests):
        (alone,) = requests
        counted = (alone.actor, len(alone.rows), alone.byte_count, *(addresses if with_addresses else ()))
        return APPENDS_UNLESS_JOINED[with_addresses], [alone.joins_seen, *_arrays(requests), *counted]
    is_one = len(requests) == 1
    written = [(each.actor, len(each.rows), each.byte_count) for each in requests]
    parameters = [
        *_arrays(requests),
        *(written[0] if is_one else _columns(("text", "bigint", "bigint"), written)),
        *(recipes if with_recipes else ()),
        *(originals if with_originals else ()),
        *(power if with_power else ()),
        *(addresses if with_addresses else ()),
    ]
    return APPENDS[is_one, with_recipes, with_originals, with_power, with_addresses], parameters


def _columns(types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[ArrayColumn]:
    """Return the columns of some rows, one for each type."""
    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    return [ArrayColumn(type_, column) for type_, column in zip(types, columns, strict=True)]


def _arrays(requests: Sequence[StoredAppend]) -> list[ArrayColumn]:
    """Return the parameters of `log.append`."""
    numbered = list(enumerate(requests, start=1))
    heads = [
        (
            request.command_id,
            request.fence.lease if request.fence else None,
            request.fence.epoch if request.fence else None,
            request.digest,
            request.answer,
        )
        for request in requests
    ]
    expected = [
        (number, subject, version)
        for number, request in numbered
        for subject, version in request.expected.items()
    ]
    rows = [(number, *row) for number, request in numbered for row in request.rows]
    return [
        *_columns(("text", "text", "bigint", "bytea", "bytea"), heads),
        *_columns(("integer", "text", "bigint"), expected),
        ArrayColumn("integer", [request.partition for request in requests]),
        *_columns(("integer", "text", "bigint", "text", "bytea"), rows),
    ]


def _originals(requests: Sequence[StoredAppend]) -> list[ArrayColumn]:
    originals = [
        (number, each.original.sha256, each.original.content)
        for number, each in enumerate(requests, start=1)
        if each.original
    ]
    return _columns(("integer", "bytea", "bytea"), originals)


def _power(requests: Sequence[StoredAppend]) -> list[ArrayColumn]:
    """Return the columns of the new power settings; those of systems that lose theirs are None."""
    rows = [
        (number, change.fqdn, *(astuple(change.settings) if change.settings else (None,) * 5))
        for number, request in enumerate(requests, start=1)
        for change in request.power
    ]
    return _columns(("integer", *("text",) * 6), rows)


def _addresses(requests: Sequence[StoredAppend]) -> list[ArrayColumn]:
    addresses = [
        (number, request.command_id, request.address)
        for number, request in enumerate(requests, start=1)
        if request.address is not None
    ]
    return _columns(("integer", "text", "text"), addresses)


def _recipes(requests: Sequence[StoredAppend]) -> list[ArrayColumn]:
    new = [
        (number, owner, count)
        for number, request in enumerate(requests, start=1)
        for owner, count in request.new_recipes.items()
    ]
    finished = [
        (number, subject)
        for number, request in enumerate(requests, start=1)
        for subject, _, topic, _ in request.rows
        if topic in FINISHED_TOPICS
    ]
    return [*_columns(("integer", "text", "bigint"), new), *_columns(("integer", "text"), finished)]


def _outcome(request: StoredAppend, row: tuple[Any, ...]) -> Outcome:
    outcome, first, last, recorded_at, digest, answer, preceding, author_bytes, unfinished_count = row
    if outcome == "conflict":
        return Conflict(f"not all at the expected version: {', '.join(sorted(request.expected))}")
    if outcome == "fenced":
        return Fenced(f"lease {request.fence.lease if request.fence else ''} has a later epoch")
    repeated = outcome == "known"
    counts = author_bytes, unfinished_count
    return Committed(first, last, recorded_at, repeated, digest, answer, *counts, preceding)
