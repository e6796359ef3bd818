"""The supervisor, with real processes and signals."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from runtime.processes import supervisor as module
from runtime.processes.supervisor import Program, Supervisor
from tests.harness.processes import is_alive

# Writes its pid and its end to a file; `deaf` ones ignore SIGTERM, `brief` ones end at once.
CHILD = """
import os, signal, sys, time
name, notes, kind = sys.argv[1:]

def note(what):
    with open(notes, "a") as file:
        file.write(f"{name} {what}\\n")

def stop(number, frame):
    note("stopped")
    raise SystemExit

signal.signal(signal.SIGTERM, signal.SIG_IGN if kind == "deaf" else stop)
note(os.getpid())
while kind != "brief":
    time.sleep(0.02)
"""

# Begins the code of a child that may wait for its turn.
WAITING = "from runtime.processes.prestart import await_turn\nawait_turn()\n"

SUPERVISING = """
import sys
from runtime.processes.stop_request import StopRequest
from runtime.processes.supervisor import Program, Supervisor

stop = StopRequest()
stop.listen()
supervisor = Supervisor(stop_seconds=30)
for name in ("first", "second"):
    supervisor.start(Program(name, [sys.executable, "-c", sys.argv[1], name, sys.argv[2], "plain"], {}))
supervisor.run(stop.is_requested)
supervisor.stop()
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor(stop_seconds=30)
    yield supervisor
    supervisor.stop()


def child(name: str, notes: Path, kind: str = "plain") -> Program:
    return Program(name, [sys.executable, "-c", CHILD, name, str(notes), kind], {})


def spared(name: str, notes: Path) -> Program:
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return Program(
        name, [sys.executable, "-c", WAITING + CHILD, name, str(notes), "plain"], path, has_spare=True
    )


def lines(notes: Path) -> list[str]:
    return notes.read_text().splitlines() if notes.exists() else []


def pids(notes: Path) -> list[int]:
    return [int(line.split()[1]) for line in lines(notes) if not line.endswith("stopped")]


def within(seconds: float, question: Callable[[], bool]) -> Callable[[], bool]:
    """Return a condition for `run` that fails after a number of seconds."""
    deadline = time.monotonic() + seconds

    def ask() -> bool:
        if time.monotonic() > deadline:
            pytest.fail(f"it did not happen within {seconds} s")
        return question()

    return ask


def wait(question: Callable[[], bool]) -> None:
    ask = within(30, question)
    while not ask():
        time.sleep(0.02)


def test_run__child_killed__starts_it_again(supervisor: Supervisor, notes: Path) -> None:
    supervisor.start(child("a", notes))
    supervisor.run(within(30, lambda: len(pids(notes)) == 1))
    os.kill(pids(notes)[0], signal.SIGKILL)
    supervisor.run(within(30, lambda: len(pids(notes)) == 2))
    assert [is_alive(pid) for pid in pids(notes)] == [False, True]


def test_run__child_that_keeps_dying__is_started_ever_more_slowly(
    supervisor: Supervisor, notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    supervisor.start(child("a", notes, "brief"))
    supervisor.run(within(30, lambda: len(pids(notes)) == 6))
    deaths = [record.args for record in caplog.records if record.levelno == logging.WARNING]
    delays = [args[2] for args in deaths if isinstance(args, tuple)]
    assert [delay for delay in delays if isinstance(delay, float)][:5] == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_run__check_given__is_asked_too(supervisor: Supervisor) -> None:
    asked: list[bool] = []
    supervisor.add_check(lambda: asked.append(True))
    supervisor.run(within(30, lambda: len(asked) > 1))
    assert asked


def test_stop__several_children__last_started_first(supervisor: Supervisor, notes: Path) -> None:
    for name in ("a", "b", "c"):
        supervisor.start(child(name, notes))
    supervisor.run(within(30, lambda: len(pids(notes)) == 3))
    supervisor.stop()
    assert lines(notes)[3:] == ["c stopped", "b stopped", "a stopped"]


def test_stop__child_deaf_to_sigterm__is_killed_after_its_time(notes: Path) -> None:
    supervisor = Supervisor(stop_seconds=0.5)
    supervisor.start(child("a", notes, "deaf"))
    supervisor.run(within(30, lambda: len(pids(notes)) == 1))
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started >= 0.5
    assert not is_alive(pids(notes)[0])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_supervising_process__asked_to_stop__stops_its_children(notes: Path, number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISING, CHILD, str(notes)]) as process:
        wait(lambda: len(pids(notes)) == 2)
        process.send_signal(number)
        assert process.wait(60) == 0
    assert lines(notes)[2:] == ["second stopped", "first stopped"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_supervising_process__killed__leaves_no_children(notes: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISING, CHILD, str(notes)]) as process:
        wait(lambda: len(pids(notes)) == 2)
        process.kill()
    wait(lambda: not any(is_alive(pid) for pid in pids(notes)))
    assert sorted(lines(notes)[2:]) == ["first stopped", "second stopped"]


def test_run__nothing_can_be_started_for_a_while__goes_on_and_starts_it_then(
    supervisor: Supervisor, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let starts fail for a while, as at a limit of processes or memory."""
    supervisor.start(child("first", notes))
    supervisor.run(within(10, lambda: len(pids(notes)) == 1))
    real, refused = module.spawn, []

    def spawn(program: Program) -> subprocess.Popen[bytes]:
        if len(refused) < 2:
            refused.append(program.name)
            raise BlockingIOError("Resource temporarily unavailable")
        return real(program)

    monkeypatch.setattr(module, "spawn", spawn)
    os.kill(pids(notes)[0], signal.SIGKILL)
    supervisor.run(within(10, lambda: len(pids(notes)) == 2))
    assert refused == ["first", "first"]


@pytest.fixture
def soon_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLED_SECONDS", 0.2)


def of_this(argument: Path) -> set[int]:
    """Return the processes that have this text on their command line."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(argument).encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found


def supervised_until_spared(supervisor: Supervisor, notes: Path) -> tuple[int, int]:
    """Yield the pids of the working process and of its spare."""
    supervisor.run(within(30, lambda: len(of_this(notes)) == 2 and bool(pids(notes))))
    (spare,) = of_this(notes) - {pids(notes)[-1]}
    return pids(notes)[-1], spare


def test_spare__process_killed__takes_its_place_and_has_a_spare_in_turn(
    supervisor: Supervisor, notes: Path, soon_settled: None
) -> None:
    supervisor.start(spared("a", notes))
    first, spare = supervised_until_spared(supervisor, notes)
    assert pids(notes) == [first], "who waits does nothing"
    os.kill(first, signal.SIGKILL)
    supervisor.run(within(30, lambda: len(pids(notes)) == 2))
    assert pids(notes) == [first, spare]
    assert supervised_until_spared(supervisor, notes)[0] == spare


def test_spare__killed_itself__another_waits(supervisor: Supervisor, notes: Path, soon_settled: None) -> None:
    supervisor.start(spared("a", notes))
    first, spare = supervised_until_spared(supervisor, notes)
    os.kill(spare, signal.SIGKILL)
    supervisor.run(within(30, lambda: spare not in of_this(notes)))
    assert supervised_until_spared(supervisor, notes)[0] == first


def test_spare__killed_with_its_process__another_is_started(
    supervisor: Supervisor, notes: Path, soon_settled: None
) -> None:
    supervisor.start(spared("a", notes))
    first, spare = supervised_until_spared(supervisor, notes)
    for pid in (spare, first):
        os.kill(pid, signal.SIGKILL)
    wait(lambda: not is_alive(spare) and not is_alive(first))
    supervisor.run(within(30, lambda: len(pids(notes)) == 2))
    assert pids(notes)[-1] not in (first, spare)


def test_stop__with_a_spare__it_ends_too(supervisor: Supervisor, notes: Path, soon_settled: None) -> None:
    supervisor.start(spared("a", notes))
    both = supervised_until_spared(supervisor, notes)
    supervisor.stop()
    assert not any(is_alive(pid) for pid in both)
    assert lines(notes)[1:] == ["a stopped"]
