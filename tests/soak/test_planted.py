"""Planted faults that the soak must detect: each is found by the checks of the log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.contention.documents import stored_locks
from domain.events import Basis, Change, Stamp
from domain.partition_numbers import DEFAULT_NUMBER
from domain.system.events import SystemIdle
from store.event_log import EventLog
from store.lease import SCHEDULER
from store.requests import AppendRequest, Committed, Fence, Fenced, Outcome
from tests.harness.appends import positions
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.in_process.environment import Environment
from tests.simulation.planted import locks_conflict_with_nothing
from tests.soak.book import Acknowledged, Book, LabJournal
from tests.soak.log_history import LogHistory
from tests.workers.lab import equip, submit_jobs

WHITEBOARD = ""
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
APPEND = b"SELECT pg_get_functiondef('log.append'::regproc)"


@pytest.fixture
def book() -> Book:
    return Book(asked={WHITEBOARD})


@pytest.fixture
def history(log: EventLog, book: Book, tmp_path: Path) -> LogHistory:
    return LogHistory(log, book, LabJournal(tmp_path / "none"))


def test_history__everything_as_it_should_be__nothing_is_wrong(
    log: EventLog, book: Book, history: LogHistory
) -> None:
    equip(log, systems=1)
    (recipe_id,) = submit_jobs(log, 1)
    book.note(Acknowledged(log.end(), f"recipe/{recipe_id}", ("recipe.new",)))
    assert history.check() == []
    assert history.check_again() == []
    assert history.acknowledged == 1


def decided(log: EventLog, system: str, epoch: int, at: int) -> Outcome:
    """Append a decision of the scheduler that has, or had, the lease of this epoch."""
    stamp = Stamp(MOMENT, "scheduler", f"event/{at}", Basis(log.end(), MOMENT, epoch, 1), 0)
    change = Change(f"system/{system}", SystemIdle(), stamp)
    fence = Fence(SCHEDULER, epoch)
    (outcome,) = log.append(
        [AppendRequest(f"{system}/{epoch}", (change,), {change.subject: at}, fence, partition=DEFAULT_NUMBER)]
    )
    return outcome


def zombie_writes(log: EventLog, owner: Owner) -> Outcome:
    """Append a decision of the first epoch after one of the second."""
    equip(log, systems=2)
    for _ in range(2):
        owner.execute("SELECT log.take_lease(%s, 'somebody')", (SCHEDULER,))
    positions(decided(log, "host-00.lab", epoch=2, at=2))
    return decided(log, "host-01.lab", epoch=1, at=2)


def test_history__zombie_writes__is_refused_and_nothing_of_it_is_there(
    log: EventLog, owner: Owner, history: LogHistory
) -> None:
    assert isinstance(zombie_writes(log, owner), Fenced)
    assert not [wrong for wrong in history.check() if "epoch" in wrong]


def test_history__fencing_is_off__zombie_is_seen(log: EventLog, owner: Owner, history: LogHistory) -> None:
    row = owner.execute(APPEND).fetchone()
    assert row is not None and "THEN 'fenced'" in row[0]
    owner.execute(row[0].replace("THEN 'fenced'", "AND false THEN 'fenced'").encode())
    assert isinstance(zombie_writes(log, owner), Committed)
    assert [wrong for wrong in history.check() if "written under epoch 1, after 2" in wrong]


def test_history__acknowledged_job_dropped__is_missed(
    log: EventLog, database: TestDatabase, owner: Owner, book: Book, history: LogHistory
) -> None:
    equip(log, systems=1)
    (recipe_id,) = submit_jobs(log, 1)
    fact = Acknowledged(log.end(), f"recipe/{recipe_id}", ("recipe.new",))
    book.note(fact)
    owner.execute("SET session_replication_role = replica")
    owner.execute("DELETE FROM log.events WHERE originator_id = %s", (fact.subject,))
    assert f"acknowledged, and not in the log: {fact}" in history.check()


def test_history__event_changed_after_it_was_read__is_noticed(
    log: EventLog, owner: Owner, history: LogHistory
) -> None:
    equip(log, systems=2)
    assert history.check() == []
    owner.execute("SET session_replication_role = replica")
    owner.execute("UPDATE log.events SET originator_id = 'system/other' WHERE notification_id = 3")
    assert [wrong for wrong in history.check() if "is not what it was" in wrong]
    assert history.check_again()


def test_history__job_doubled__is_seen(log: EventLog, history: LogHistory) -> None:
    equip(log, systems=1)
    submit_jobs(log, 2)
    assert f"2 jobs for one submission: {WHITEBOARD}" in history.check()


def test_history__job_of_nobody__is_seen(log: EventLog, book: Book, history: LogHistory) -> None:
    book.asked.clear()
    equip(log, systems=1)
    submit_jobs(log, 1)
    assert f"a job that nobody submitted: {WHITEBOARD}" in history.check()


def test_fact__other_data_or_a_later_position__is_not_found(
    log: EventLog, book: Book, history: LogHistory
) -> None:
    equip(log, systems=1)
    (recipe_id,) = submit_jobs(log, 1)
    right = Acknowledged(log.end(), f"recipe/{recipe_id}", ("recipe.new",))
    wrong = [
        replace(right, position=1),
        replace(right, topics=("recipe.queued",)),
        replace(right, data=(("recipe_set_id", 99),)),
    ]
    book.note(right, *wrong)
    assert len(history.check()) == len(wrong)


@pytest.mark.parametrize("planted", [False, True])
def test_history__locks_conflict_with_nothing__is_seen(
    environment: Environment, book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    """Let two recipes lock one network; without the planted fault the second one waits."""
    if planted:
        locks_conflict_with_nothing(monkeypatch)
    with environment.scene() as scene:
        equip(scene.log, systems=2)
        submit_jobs(scene.log, 2, stored_locks({"network": {"Exclusive": ["n1"]}}))
        scene.scheduler.begin()
        scene.scheduler.settle()
        scene.scheduler.die()
        wrong = LogHistory(scene.log, book, LabJournal(tmp_path / "none")).check()
    assert any("no_conflicting_locks" in each for each in wrong) == planted
