"""A log in memory, appended to a log in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from itertools import groupby

from domain.events import Change, Recorded, Stamp
from store.event_log import EventLog
from store.requests import AppendRequest, new_command_id, require_committed
from tests.harness.databases import TestDatabase


def store(database: TestDatabase, log: Iterable[Recorded]) -> None:
    """Append commit by commit, and translate each position to that of the same event."""
    positions = {0: 0}
    with closing(EventLog(database.service_url, pool_size=1)) as stored:
        for _, together in groupby(log, key=lambda recorded: recorded.commit_end):
            rows = tuple(together)
            changes = tuple(Change(row.subject, row.event, _moved(row.stamp, positions)) for row in rows)
            expected: dict[str, int] = {}
            for row in rows:
                expected.setdefault(row.subject, row.version - 1)
            (outcome,) = stored.append(
                [AppendRequest(new_command_id(), changes, expected, partition=rows[0].partition)]
            )
            first = require_committed(outcome).first_position
            positions |= {row.position: first + place for place, row in enumerate(rows)}


def _moved(stamp: Stamp, positions: dict[int, int]) -> Stamp:
    kind, _, name = stamp.cause.partition("/")
    cause = f"event/{positions[int(name)]}" if kind == "event" else stamp.cause
    if stamp.basis is None:
        return stamp
    batch = stamp.basis.batch
    if batch is not None:
        batch = replace(batch, after=positions[batch.after], upto=positions[batch.upto])
    basis = replace(stamp.basis, position=positions[stamp.basis.position], batch=batch)
    return replace(stamp, cause=cause, basis=basis)
