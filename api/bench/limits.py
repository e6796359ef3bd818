"""What the machine itself can do, in the same run and on the same server, with the rows of the log."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import psycopg

from api.bench.outcome import Figures

EVENTS_AT_ONCE = 1_000
SECONDS = 3.0
ROUND_TRIPS = 300
STATE = (
    b'{"version":1,"at":"2026-01-01T00:00:00Z","actor":"scheduler","cause":"event/123456",'
    b'"data":{"recipe_id":1}}'
)

TABLE = """
CREATE TABLE bench_events (
    subject text NOT NULL, version bigint NOT NULL, topic text NOT NULL, state bytea NOT NULL,
    position bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (subject, version))
"""
INSERT = """
INSERT INTO bench_events (subject, version, topic, state, position)
SELECT * FROM unnest(%b::text[], %b::bigint[], %b::text[], %b::bytea[], %b::bigint[])
"""


def of_the_database(owner_url: str) -> Figures:
    """Events inserted by arrays, each array durable; one durable row until its listener has heard of it."""
    with (
        psycopg.connect(owner_url, autocommit=True) as writer,
        psycopg.connect(owner_url, autocommit=True) as listener,
    ):
        writer.execute(TABLE)
        try:
            listener.execute("LISTEN bench")
            return {
                "raw_insert_events_per_second": round(_inserts(writer)),
                "durable_insert_and_notify_ms": round(1000 * median(_round_trips(writer, listener)), 3),
            }
        finally:
            writer.execute("DROP TABLE bench_events")


def _inserts(writer: psycopg.Connection[Any]) -> float:
    position = 0
    began = time.monotonic()
    while time.monotonic() - began < SECONDS:
        _insert(writer, position, EVENTS_AT_ONCE)
        position += EVENTS_AT_ONCE
    return position / (time.monotonic() - began)


def _round_trips(writer: psycopg.Connection[Any], listener: psycopg.Connection[Any]) -> list[float]:
    found = []
    for number in range(ROUND_TRIPS):
        began = time.monotonic()
        with writer.transaction():
            _insert(writer, 10**9 + number, 1)
            writer.execute("NOTIFY bench")
        next(iter(listener.notifies(stop_after=1)))
        found.append(time.monotonic() - began)
    return found


def _insert(writer: psycopg.Connection[Any], after: int, count: int) -> None:
    positions = list(range(after + 1, after + count + 1))
    subjects = [f"recipe/{position}" for position in positions]
    rows = [subjects, [1] * count, ["recipe.scheduled"] * count, [STATE] * count, positions]
    writer.execute(INSERT.encode(), rows, prepare=True)
