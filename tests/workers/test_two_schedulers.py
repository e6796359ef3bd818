"""Two schedulers: only one of them decides, also with clocks that differ."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from domain.directory.events import LabControllerSilent
from domain.recipe_set.messages import ReportInstalling, ReportTaskRunning
from domain.scheduling.decisions.draft import Decision
from store.contacts import Contacts, LastContacts
from store.event_log import EventLog
from store.lease import SCHEDULER
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import occupy, one_lab
from tests.harness.databases import TestDatabase
from tests.harness.programs import stderr_at_exit
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs
from tests.workers.leases import awaited_holder, holder
from workers.clocks import DIFFER, MOVED, SETTLING_SECONDS
from workers.consistency import ConsistencyLoop

LEASE_SESSIONS = b"""
SELECT count(pg_terminate_backend(pid)) FROM pg_locks
WHERE locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def test_scheduler__active_one_killed_again_and_again__another_decides_what_is_open(
    log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=12)
    running = [start("scheduler"), start("scheduler")]
    for _ in range(3):
        active = awaited_holder(owner, running)
        submit_jobs(log, 10)
        active.kill()  # probably while it decides
        running = [process for process in running if process is not active]
        submit_jobs(log, 5)
        wait_until(lambda: all_decided(log))
        running.append(start("scheduler"))

    assert_decided_once(log)
    assert owner.execute("SELECT epoch FROM log.leases").fetchone() == (4,)


def test_scheduler__stopped_in_an_append_while_another_takes_over__refused_and_steps_down(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=4)
    zombie = start("scheduler")
    awaited_holder(owner, [zombie])
    wait_until(lambda: all_decided(log))
    following = start("scheduler")

    with owner_session(database.owner_url) as another, another.transaction():
        # The next append of the stopped one waits for the lease, which is about to get another holder.
        another.execute("SELECT log.take_lease(%s, 'in between')", (SCHEDULER,))
        submit_jobs(log, 1)  # and no more: the next append waits behind that of the stopped one
        wait_until(lambda: lock_waiters(owner) == 1)
        os.kill(zombie.pid, signal.SIGSTOP)
        assert owner.execute(LEASE_SESSIONS).fetchone() == (1,)
        wait_until(lambda: lock_waiters(owner) == 2)
    wait_until(lambda: all_decided(log))
    os.kill(zombie.pid, signal.SIGCONT)
    submit_jobs(log, 8)
    wait_until(lambda: all_decided(log))

    assert holder(owner, [zombie, following]) is following
    assert_decided_once(log)
    assert "has a later epoch" in stderr_at_exit(zombie)


def test_scheduler__lease_session_ended__goes_on_by_a_later_epoch(
    log: EventLog, owner: Owner, start: Start
) -> None:
    """A scheduler alone does not stay without its lease."""
    equip(log, systems=2)
    alone = start("scheduler")
    awaited_holder(owner, [alone])
    owner.execute(LEASE_SESSIONS)
    submit_jobs(log, 4)

    wait_until(lambda: all_decided(log))
    assert_decided_once(log)


NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
HOURS = 3_600
SHIFTS = [4 * HOURS, -4 * HOURS, 1_900]


class Lab:
    """A scheduler, a database and the world, each with a clock.

    `silent_seconds` have passed since the last contact.
    """

    def __init__(self) -> None:
        self.world = one_lab()
        self.world.now = NOON
        self.loop = ConsistencyLoop(cast("Contacts", self), every_seconds=10)
        self.scheduler_ahead = self.database_ahead = 0.0
        self.silent_seconds = 1.0
        self._passed = 0.0

    def last_contacts(self) -> LastContacts:
        now = self._now(self.database_ahead)
        return LastContacts(now, {"lab-1": now - timedelta(seconds=self.silent_seconds)})

    def _now(self, ahead: float) -> datetime:
        return NOON + timedelta(seconds=self._passed + ahead)

    def turn(self, after_seconds: float = 10) -> list[Decision]:
        """Run the loop this much later, and append its decisions to the log."""
        self._passed += after_seconds
        self.world.now = self._now(self.scheduler_ahead)
        self.world.database_ahead = timedelta(seconds=self.database_ahead - self.scheduler_ahead)
        self.world.settle()
        decisions = self.loop.correct(self.world.partition, self.world.now, self._passed)
        if decisions:
            self.world.commit_decisions(decisions, self.world.position)
        return decisions


@pytest.fixture
def lab() -> Lab:
    """One recipe runs, a person has reserved a system, another is on loan, and a lab was heard just now."""
    lab = Lab()
    world = lab.world
    world.add_idle("a", "b", "c")
    occupy(world, "a")
    world.add_system("m", condition="Manual")
    world.reserve("m", until=_later(2))
    world.lend("b", "ada", _later(2))
    assert lab.turn(0) == []
    return lab


def _later(hours: float) -> str:
    return (NOON + timedelta(hours=hours)).isoformat()


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("clock", ["scheduler_ahead", "database_ahead"])
def test_turn__one_clock_is_set_to_another_time__ends_nothing(lab: Lab, clock: str, shift: float) -> None:
    setattr(lab, clock, shift)
    waiting = lab.world.submit(named("a"), tree_id=1)
    lab.turn()
    lab.world.remove_tree(1)
    for _ in range(30):
        assert [decision for decision in lab.turn(60) if _ends(decision)] == []
    assert lab.world.recipes[waiting].state == "queued"
    assert lab.loop.withheld[DIFFER] == 31


@pytest.mark.parametrize("shift", SHIFTS)
def test_turn__both_clocks_are_set_together__ends_nothing_for_ten_minutes(lab: Lab, shift: float) -> None:
    lab.scheduler_ahead = lab.database_ahead = shift
    for _ in range(SETTLING_SECONDS // 10):
        assert lab.turn() == []
    assert lab.loop.withheld == {MOVED: SETTLING_SECONDS // 10}
    lab.turn()
    assert lab.loop.withheld.total() == SETTLING_SECONDS // 10


@pytest.mark.parametrize("clock", ["scheduler_ahead", "database_ahead"])
def test_turn__clock_is_right_again__ends_expired_work_ten_minutes_later(lab: Lab, clock: str) -> None:
    setattr(lab, clock, 4 * HOURS)
    assert lab.turn() == []
    setattr(lab, clock, 0)
    for _ in range(SETTLING_SECONDS // 10):
        assert lab.turn() == []
    assert lab.turn() == [], "nothing is over yet"
    causes = [decision.trigger.cause for decision in lab.turn(4 * HOURS)]
    assert causes == ["timer/watchdog/1", "timer/reservation/m", "timer/loan/b"]


@pytest.mark.parametrize("shift", [*SHIFTS, -1_900])
def test_watchdog__started_by_a_process_with_another_clock__has_its_time(lab: Lab, shift: float) -> None:
    """Start a watchdog with an event of an API process, whose time sets no deadline."""
    world = lab.world
    world.now += timedelta(seconds=shift)
    world.database_ahead = timedelta(seconds=-shift)
    world.report(1, ReportInstalling())
    world.report(1, ReportTaskRunning(world.recipes[1].tasks[0].task_id))
    assert lab.turn(1_700) == []
    (ended,) = lab.turn(200)
    assert ended.trigger.cause == "timer/watchdog/1"


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("clock", ["scheduler_ahead", "database_ahead"])
def test_lab__clock_is_wrong__is_not_declared_silent_and_is_heard(lab: Lab, clock: str, shift: float) -> None:
    setattr(lab, clock, shift)
    lab.silent_seconds = 1_000
    assert lab.turn() == []
    setattr(lab, clock, 0)
    lab.turn()
    (silent,) = lab.turn(SETTLING_SECONDS)
    assert isinstance(silent.events[0][1], LabControllerSilent)
    setattr(lab, clock, shift)
    lab.silent_seconds = 1
    assert [decision.trigger.cause for decision in lab.turn()] == ["timer/contact/lab-1"]


def test_lab__contact_stamped_before_the_clock_was_set_back__says_nothing(lab: Lab) -> None:
    lab.silent_seconds = -4 * HOURS
    assert lab.turn() == []


def test_doubt__comes_and_goes__is_logged_once_each(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    lab.scheduler_ahead = 60
    lab.turn()
    lab.turn()
    lab.scheduler_ahead = 0
    lab.turn()
    lab.turn(SETTLING_SECONDS)
    said = [record.getMessage() for record in caplog.records]
    assert [line.partition(":")[2].split(",")[0].split("(")[0].strip() for line in said] == [
        "the clocks differ",
        "the clocks moved",
        "the clocks are trusted again",
    ]


def _ends(decision: Decision) -> bool:
    return not decision.trigger.cause.startswith("timer/contact/")
