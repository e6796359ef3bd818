"""Limits of PostgreSQL: inserts of log rows like those of the scheduler, without any decision."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from bench.outcome import Figures
from domain.directory.actors import SCHEDULER
from domain.events import Basis, Change, Event, Stamp
from domain.recipe.events import RecipeScheduled, RecipeWaiting
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system.events import SystemScheduled, SystemWaiting
from postgres.named_sql import named_queries
from store.mapper import EventMapper, Versioned

SQL = named_queries(Path(__file__).with_name("database.sql"))

# The maximum number of decisions in a commit of the scheduler.
GRANTS_PER_INSERT = 500
ROUND_TRIPS = 300
EVENTS_OF_A_GRANT = 4
SYSTEMS = 10_000
LAB_CONTROLLER = "lab.s1-01.example.com"
MOMENT = datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)

Columns = list[list[Any]]
"""Subjects, versions, topics, states, positions and commit ends, a list of each."""


def of_grants(first: int, grants: int) -> Columns:
    """Return the rows of allocations in one commit, numbered from `first` so that no two rows share a key."""
    after = first * EVENTS_OF_A_GRANT
    end = after + grants * EVENTS_OF_A_GRANT
    columns: Columns = [[], [], [], [], list(range(after + 1, end + 1)), [end] * (end - after)]
    mapper = EventMapper()
    for number in range(first, first + grants):
        stamp = Stamp(
            MOMENT, SCHEDULER, f"event/{after}", Basis(after, MOMENT, 1, POLICY_VERSION), number - first
        )
        for subject, version, event in _grant(number):
            stored = mapper.to_stored_event(Versioned(subject, version, Change(subject, event, stamp)))
            for column, value in zip(columns, (subject, version, stored.topic, stored.state), strict=False):
                column.append(value)
    return columns


def _grant(number: int) -> list[tuple[str, int, Event]]:
    fqdn = f"r640-{number % SYSTEMS:04}.s1-01.example.com"
    recipe, system = f"recipe/{number}", f"system/{fqdn}"
    before = 1 + 2 * (number // SYSTEMS)
    return [
        (recipe, 3, RecipeScheduled(fqdn, LAB_CONTROLLER)),
        (system, before, SystemScheduled(number)),
        (recipe, 4, RecipeWaiting(fqdn)),
        (system, before + 1, SystemWaiting(number)),
    ]


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
