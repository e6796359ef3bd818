"""Limits of PostgreSQL: inserts of log rows without any decision."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from bench.limits.rows import Columns, of_grants
from bench.outcome import Figures
from postgres.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("database.sql"))

# The maximum number of decisions in a commit of the scheduler.
GRANTS_PER_INSERT = 500
ROUND_TRIPS = 300


def of_the_database(owner_url: str, seconds: float) -> Figures:
    """Measure durable inserts of many events, and durable inserts of one event until its notification."""
    with (
        psycopg.connect(owner_url, autocommit=True) as writer,
        psycopg.connect(owner_url, autocommit=True) as listener,
    ):
        writer.execute(SQL["make_table"])
        try:
            listener.execute(SQL["listen"])
            return {
                "raw_insert_events_per_second": round(_inserts(writer, seconds)),
                "durable_insert_and_notify_ms": round(1000 * median(_round_trips(writer, listener)), 3),
            }
        finally:
            writer.execute(SQL["drop_table"])


def _inserts(writer: psycopg.Connection[Any], seconds: float) -> float:
    """Return the inserted events per second, without the time for creating the rows."""
    events, took, first = 0, 0.0, 1
    while took < seconds:
        columns = of_grants(first, GRANTS_PER_INSERT)
        took += _insert(writer, columns)
        events += len(columns[0])
        first += GRANTS_PER_INSERT
    return events / took


def _round_trips(writer: psycopg.Connection[Any], listener: psycopg.Connection[Any]) -> list[float]:
    seconds = []
    for number in range(ROUND_TRIPS):
        columns = [column[:1] for column in of_grants(10**8 + number, 1)]
        began = time.monotonic()
        with writer.transaction():
            _insert(writer, columns)
            writer.execute(SQL["notify"])
        next(iter(listener.notifies(stop_after=1)))
        seconds.append(time.monotonic() - began)
    return seconds


def _insert(writer: psycopg.Connection[Any], columns: Columns) -> float:
    began = time.monotonic()
    writer.execute(SQL["insert"], columns, prepare=True)
    return time.monotonic() - began
