"""The idle pool is what the domain says it is, after whatever happened, at every moment of it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from api.store.datastore import connect
from domain.directory.events import (
    LabControllerDisabled,
    LabControllerEnabled,
    PoolRegistered,
    PoolSystemAdded,
    PoolSystemRemoved,
)
from domain.directory.state import Directory
from domain.events import Event, Moment, Recorded, split_subject
from domain.system import events as happened
from domain.system.state import System, evolve
from domain.system.usage import in_idle_pool
from tests.harness.databases import TestDatabase
from tests.projections.happened import Happened, lab, registered
from tests.projections.telling import Told

LABS = ("lab-1", "lab-2", "lab-3")
POOLS = ("big", "small")
SYSTEMS = tuple("abcdefgh")
COMMITS = 60


class Plain:
    """A fold without tables: systems, labs and pools as they are now."""

    def __init__(self) -> None:
        self.systems: dict[str, System] = {}
        self.directory = Directory()

    def apply(self, recorded: Recorded) -> None:
        self.directory.apply(recorded)
        kind, name = split_subject(recorded.subject)
        if kind == "system":
            before = self.systems.get(name)
            self.systems[name] = evolve(before, name, recorded.event, Moment.of(recorded))

    def idle(self) -> dict[str, str]:
        return {
            fqdn: system.lab_controller
            for fqdn, system in self.systems.items()
            if in_idle_pool(system, self.directory.is_enabled(system.lab_controller))
        }

    def shown(self, fqdn: str) -> tuple[object, ...]:
        system = self.systems[fqdn]
        return (
            *(system.version, system.lab_controller, system.condition, system.usage, system.recipe_id),
            *(system.draining, system.reservation and system.reservation.user),
            set(self.directory.pools_of(fqdn)),
        )


def anything(dice: Random) -> Iterator[Happened]:
    """Events in any order: whether a lab would allow it is not what is asked here."""
    for _ in range(dice.randint(1, 4)):
        kind = dice.choices(("lab-controller", "pool", "system"), (2, 1, 7))[0]
        if kind == "lab-controller":
            yield f"lab-controller/{dice.choice(LABS)}", dice.choice(_LAB_EVENTS)
        elif kind == "pool":
            moved = dice.choice((PoolSystemAdded, PoolSystemAdded, PoolSystemRemoved))
            yield f"pool/{dice.choice(POOLS)}", moved(dice.choice(SYSTEMS))
        else:
            yield f"system/{dice.choice(SYSTEMS)}", dice.choice(_SYSTEM_EVENTS)


_LAB_EVENTS: list[Event] = [LabControllerEnabled(), LabControllerEnabled(), LabControllerDisabled()]
_SYSTEM_EVENTS: list[Event] = [
    *(
        happened.SystemConditionChanged(condition, "")
        for condition in ("Automated", "Automated", "Automated", "Broken")
    ),
    *(happened.SystemLabControllerChanged(name) for name in LABS),
    *[happened.SystemIdle()] * 6,
    *(happened.SystemPending(), happened.SystemScheduled(1), happened.SystemRunning(None)),
    *(happened.SystemDrained(""), *[happened.SystemUndrained()] * 3),
    *(happened.SystemReservationBegun("ada", None, 1), *[happened.SystemReservationEnded("")] * 3),
]


@pytest.mark.parametrize("seed", range(3))
def test_idle_pool__after_anything__is_that_of_a_plain_fold_at_every_commit(told: Told, seed: int) -> None:
    dice = Random(seed)
    told.write(*(lab(name, enabled=dice.random() < 0.5) for name in LABS))
    told.write(*((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    told.write(*(registered(fqdn, lab_controller=dice.choice(LABS)) for fqdn in SYSTEMS))
    for _ in range(COMMITS):
        told.write(*anything(dice))
    log, plain, expected = list(told.unread()), Plain(), {}
    for recorded in log:
        plain.apply(recorded)
        if recorded.position == recorded.commit_end:
            expected[recorded.position] = plain.idle()
    project_in_pages(told, log, dice)

    assert {at: told.idle(at=at) for at in expected} == expected
    assert len({tuple(found) for found in expected.values()}) > 5, "the pool moves"
    for fqdn in SYSTEMS:
        assert as_shown(told, fqdn) == plain.shown(fqdn)


def project_in_pages(told: Told, log: list[Recorded], dice: Random) -> None:
    """Of one commit or more: what one page leaves is what the next has to begin with."""
    page: list[Recorded] = []
    for recorded in log:
        page.append(recorded)
        if recorded.position == recorded.commit_end and (dice.random() < 0.4 or recorded is log[-1]):
            told.project(page)
            page = []


def as_shown(told: Told, fqdn: str) -> tuple[object, ...]:
    shown = ("version", "lab_controller", "condition", "usage", "recipe_id", "draining", "reserved_by")
    row = told.system(fqdn)
    return *(row[name] for name in shown), set(row["pools"])


class Counting(psycopg.Cursor[Any]):
    """Counts the statements of all cursors."""

    statements = 0

    def execute(self, *args: Any, **kwargs: Any) -> Counting:
        Counting.statements += 1
        return super().execute(*args, **kwargs)


def test_lab_disabled__however_many_systems__as_many_statements(told: Told, database: TestDatabase) -> None:
    told.tell(lab("lab-1"), lab("lab-2"), registered("first"))
    told.tell(*(registered(f"s{number}", lab_controller="lab-2") for number in range(200)))
    with connect(database.service_url, cursor_factory=Counting) as connection:
        other, counts = Told(told.log, connection), []
        for name in ("lab-1", "lab-2"):
            before = Counting.statements
            told.write((f"lab-controller/{name}", LabControllerDisabled()))
            other.project(other.unread())
            counts.append(Counting.statements - before)
        assert counts[0] == counts[1]
        assert other.idle() == {}
