"""Supervised processes that are forked, with real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.processes.forked import ForkedProgram
from runtime.processes.supervisor import Supervisor
from tests.harness.processes import children, is_alive
from tests.harness.waiting import wait_until

SECONDS = 30.0

# A parent with two forked processes; `deaf` ones ignore SIGTERM. Its own handler is not theirs.
PARENT = """
import signal, sys, time
from runtime.processes.forked import ForkedProgram
from runtime.processes.stop_request import listening
from runtime.processes.supervisor import Supervisor

def run():
    if sys.argv[1] == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(0.02)

stop = listening()
supervisor = Supervisor(stop_seconds=float(sys.argv[2]))
for name in ("first", "second"):
    supervisor.start(ForkedProgram(name, run))
supervisor.run(stop.is_requested)
supervisor.stop_together()
"""


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor(stop_seconds=30)
    yield supervisor
    supervisor.stop()


def parent(kind: str, stop_seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PARENT, kind, str(stop_seconds)])


def sleep_for_ever() -> None:
    while True:
        time.sleep(1)


def test_run__forked_process_killed__starts_it_again(supervisor: Supervisor, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    def run() -> None:
        with notes.open("a") as file:
            file.write(f"{os.getpid()}\n")
        sleep_for_ever()

    def pids() -> list[int]:
        return [int(line) for line in notes.read_text().splitlines()] if notes.exists() else []

    supervisor.start(ForkedProgram("a", run))
    supervisor.run(lambda: len(pids()) == 1)
    os.kill(pids()[0], signal.SIGKILL)
    supervisor.run(lambda: len(pids()) == 2)
    assert [is_alive(pid) for pid in pids()] == [False, True]


def test_request_stop__of_one_process__it_ends_and_is_not_started_again(supervisor: Supervisor) -> None:
    first, second = (ForkedProgram(name, sleep_for_ever) for name in ("first", "second"))
    started = children(os.getpid())
    supervisor.start(first)
    (pid,) = set(children(os.getpid())) - set(started)
    supervisor.start(second)
    supervisor.request_stop(first)
    supervisor.run(lambda: not is_alive(pid))
    until = time.monotonic() + 0.5
    supervisor.run(lambda: time.monotonic() > until)
    assert len(set(children(os.getpid())) - set(started)) == 1


def test_start__asked_to_stop_at_once__ends() -> None:
    """Send the request before the new process can have set a handler, many times."""
    for _ in range(50):
        process = ForkedProgram("a", sleep_for_ever).start()
        process.terminate()
        assert process.wait(SECONDS) == -signal.SIGTERM


def test_stop_together__deaf_processes__are_killed_after_one_time_not_one_after_the_other() -> None:
    with parent("deaf", 2) as process:
        wait_until(lambda: len(children(process.pid)) == 2, "both", SECONDS)
        # Until they ignore the signal.
        time.sleep(0.2)
        pids = children(process.pid)
        began = time.monotonic()
        process.terminate()
        assert process.wait(SECONDS) == 0
        assert 2 <= time.monotonic() - began < 4
        assert not any(map(is_alive, pids))


def test_parent__killed__forked_processes_that_ignore_signals_end_with_it() -> None:
    with parent("deaf", 30) as process:
        wait_until(lambda: len(children(process.pid)) == 2, "both", SECONDS)
        pids = children(process.pid)
        process.kill()
    wait_until(lambda: not any(map(is_alive, pids)), "their end", SECONDS)
