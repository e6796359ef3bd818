"""`labledger scheduler`: a process for each partition, for as long as the partition exists."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from domain.directory.events import LabControllerPartitionChanged, PartitionCreated, PartitionRemoved
from domain.partition_numbers import EVERYBODY
from domain.recipe.events import RecipeScheduled
from domain.system.events import SystemIdle
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.readiness import database_state
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.outage import unavailable
from tests.harness.processes import children, is_alive
from tests.harness.programs import Program, program
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.lab import add_lab, equip, put, submit_jobs

SECONDS = 30.0
WEST, EAST = 2, 3

StartParent = Callable[..., Program]


@pytest.fixture
def start_parent(database: TestDatabase) -> Iterator[StartParent]:
    """Return a function that starts `labledger scheduler` with arguments and LABLEDGER_* settings."""
    with ExitStack() as stack:
        yield lambda *arguments, **settings: stack.enter_context(
            program("cli", "scheduler", *arguments, LABLEDGER_DATABASE_URL=database.service_url, **settings)
        )


def create(log: EventLog, name: str, number: int, version: int = 0) -> None:
    put(log, [(f"partition/{name}", PartitionCreated(number))], after=version, partition=EVERYBODY)


def remove(log: EventLog, name: str, version: int = 1) -> None:
    put(log, [(f"partition/{name}", PartitionRemoved())], after=version, partition=EVERYBODY)


def live(log: EventLog) -> dict[str, int]:
    """Return the pid of the live scheduler of each partition that exists, without partitions that have none.

    A holder whose session the server has not ended yet is not live, either.
    """
    schedulers = database_state(log, 0).schedulers
    pids = {name: int(holder.name.rpartition("/")[2]) for name, holder in schedulers.items() if holder}
    return {name: pid for name, pid in pids.items() if is_alive(pid)}


def awaited(log: EventLog, *names: str) -> dict[str, int]:
    """Wait until exactly these partitions have a live scheduler, and return their pids."""
    wait_until(lambda: live(log).keys() == set(names), f"the schedulers of {names}", SECONDS)
    return live(log)


def deciding(log: EventLog) -> set[int]:
    """Return the partitions whose schedulers have decided something."""
    return {recorded.partition for recorded in whole_log(log) if recorded.stamp.basis is not None}


def test_parent__two_partitions__each_has_a_process_that_decides(
    log: EventLog, start_parent: StartParent
) -> None:
    equip(log, 1)
    (fqdn,) = add_lab(log, "west", 1)
    put(log, [(f"system/{fqdn}", SystemIdle())], after=2)
    create(log, "west", WEST)
    moved = LabControllerPartitionChanged(WEST, (fqdn,))
    put(log, [("lab-controller/west", moved)], after=1, partition=EVERYBODY)
    submit_jobs(log, 1)
    submit_jobs(log, 1, partition=WEST)
    parent = start_parent()

    def grants() -> set[tuple[str, int]]:
        events = whole_log(log)
        return {(e.event.lab_controller, e.partition) for e in events if isinstance(e.event, RecipeScheduled)}

    wait_until(lambda: grants() == {("lab", 1), ("west", WEST)}, "both grants", SECONDS)
    assert sorted(awaited(log, "default", "west").values()) == sorted(children(parent.pid))


def test_parent__one_process_killed__it_alone_is_started_again(
    log: EventLog, start_parent: StartParent
) -> None:
    create(log, "west", WEST)
    start_parent()
    before = awaited(log, "default", "west")
    os.kill(before["west"], signal.SIGKILL)
    wait_until(lambda: live(log).get("west", before["west"]) != before["west"], "the next one", SECONDS)
    assert live(log)["default"] == before["default"]


def test_parent__partition_created_and_removed_later__gets_a_process_and_loses_it(
    log: EventLog, owner: Owner, start_parent: StartParent
) -> None:
    parent = start_parent()
    awaited(log, "default")
    create(log, "west", WEST)
    first = awaited(log, "default", "west")
    remove(log, "west")
    wait_until(lambda: children(parent.pid) == [first["default"]], "its end", SECONDS)

    # Another partition of the same name.
    create(log, "west", EAST, version=2)
    second = awaited(log, "default", "west")
    assert second["default"] == first["default"] and second["west"] != first["west"]
    leases = owner.execute("SELECT name FROM log.leases ORDER BY name").fetchall()
    assert leases == [("scheduler/default",), ("scheduler/west/2",), ("scheduler/west/3",)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_parent__asked_to_stop__all_processes_end_and_leave_snapshots(
    log: EventLog, owner: Owner, start_parent: StartParent, number: int
) -> None:
    create(log, "west", WEST)
    submit_jobs(log, 1)
    submit_jobs(log, 1, partition=WEST)
    parent = start_parent()
    # A process that is stopped before it has read the log to its end has no state to store.
    wait_until(lambda: deciding(log) == {1, WEST}, "decisions of both", SECONDS)
    pids = awaited(log, "default", "west")
    parent.send_signal(number)
    assert parent.wait(SECONDS) == 0
    assert not any(map(is_alive, pids.values()))
    names = owner.execute("SELECT DISTINCT name FROM live.snapshots ORDER BY name").fetchall()
    assert names == [("scheduler/default",), ("scheduler/west/2",)]


def test_parent__killed__its_processes_end_with_it(log: EventLog, start_parent: StartParent) -> None:
    create(log, "west", WEST)
    parent = start_parent()
    pids = awaited(log, "default", "west")
    # A stopped process would ignore a request to stop.
    os.kill(pids["west"], signal.SIGSTOP)
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(map(is_alive, pids.values())), "the end of all", SECONDS)


def test_parent__process_of_a_removed_partition_hangs__is_killed(
    log: EventLog, start_parent: StartParent
) -> None:
    create(log, "west", WEST)
    parent = start_parent(LABLEDGER_STOP_SECONDS="1")
    pids = awaited(log, "default", "west")
    os.kill(pids["west"], signal.SIGSTOP)
    remove(log, "west")
    wait_until(lambda: children(parent.pid) == [pids["default"]], "its end", SECONDS)


def test_parents__two_on_one_database__each_partition_has_one_holder(
    log: EventLog, start_parent: StartParent
) -> None:
    create(log, "west", WEST)
    both = [start_parent(), start_parent()]
    wait_until(lambda: [len(children(each.pid)) for each in both] == [2, 2], "all processes", SECONDS)
    pids = awaited(log, "default", "west")
    (first,) = (each for each in both if pids["west"] in children(each.pid))
    (second,) = (each for each in both if each is not first)
    standby = children(second.pid)
    first.kill()
    wait_until(lambda: set(live(log).values()) <= set(standby) and len(live(log)) == 2, "the others", SECONDS)
    assert sorted(live(log).values()) == sorted(standby)


def test_parent__named_partitions__runs_only_those(log: EventLog, start_parent: StartParent) -> None:
    create(log, "west", WEST)
    create(log, "east", EAST)
    parent = start_parent("--partition", "west", "--partition", "default")
    pids = awaited(log, "default", "west")
    # Later than the next look at the partitions.
    time.sleep(2)
    assert sorted(children(parent.pid)) == sorted(pids.values())


def test_parent__unknown_partition_named__is_an_error_with_the_near_name(
    log: EventLog, database: TestDatabase
) -> None:
    create(log, "west", WEST)
    remove(log, "west")
    create(log, "east", EAST)
    environment = {**os.environ, "LABLEDGER_DATABASE_URL": database.service_url}
    arguments = ["--partition", "default", "--partition", "eats", "--partition", "west"]
    command = [sys.executable, "-m", "cli", "scheduler", *arguments]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ended.returncode == 2
    assert "--partition: there is no partition eats; did you mean east?" in ended.stderr
    assert "--partition: there is no partition west; did you mean east?" in ended.stderr


def test_parent__database_away_for_a_while__survives_and_follows_the_partitions(
    database: TestDatabase, log: EventLog, start_parent: StartParent
) -> None:
    parent = start_parent()
    before = awaited(log, "default")
    with unavailable(database):
        # The parent and its process try several times.
        time.sleep(3)
        assert children(parent.pid) == [before["default"]]
    wait_until(lambda: _created(log), "the database", SECONDS)
    assert awaited(log, "default", "west")["default"] == before["default"]


def _created(log: EventLog) -> bool:
    try:
        create(log, "west", WEST)
    except DatabaseAway:
        return False
    return True


def test_parent__started_while_the_database_is_away__waits_and_can_be_stopped(
    database: TestDatabase, log: EventLog, start_parent: StartParent
) -> None:
    with unavailable(database):
        stopped, waiting = start_parent(), start_parent()
        time.sleep(3)
        assert stopped.poll() is None and waiting.poll() is None
        stopped.terminate()
        assert stopped.wait(SECONDS) == 0
    wait_until(lambda: len(children(waiting.pid)) == 1, "its process", SECONDS)


@contextmanager
def paused(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_state__scheduler_of_one_partition_hangs__is_not_live_and_the_other_is(
    log: EventLog, start_parent: StartParent
) -> None:
    create(log, "west", WEST)
    start_parent(LABLEDGER_LEASE_SECONDS="3")
    pids = awaited(log, "default", "west")

    def states() -> dict[str, bool]:
        found = database_state(log, 0).schedulers
        return {name: holder is not None and holder.is_live for name, holder in found.items()}

    with paused(pids["west"]):
        wait_until(lambda: states() == {"default": True, "west": False}, "it to be noticed", SECONDS)
    wait_until(lambda: states() == {"default": True, "west": True}, "it to go on", SECONDS)
