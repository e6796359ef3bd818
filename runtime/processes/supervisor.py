"""The supervisor of processes: it restarts those that die, and stops all in order."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Protocol

from runtime.processes.child import describe_exit, die_with
from runtime.processes.prestart import give_turn, waiting_environment

log = logging.getLogger(__name__)

FIRST_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 2.0
# A process that ran longer than this did not fail at its start, so it is restarted at once.
SETTLED_SECONDS = 10.0
TICK_SECONDS = 0.05
SPARE_STOP_SECONDS = 2.0


class RunningProcess(Protocol):
    """The part of `subprocess.Popen` that a supervisor needs."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    @property
    def stdin(self) -> IO[bytes] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...


class Supervised(Protocol):
    """A `Program` or a `ForkedProgram`: a supervisor starts it, and starts it again when it dies."""

    @property
    def name(self) -> str: ...
    def start(self) -> RunningProcess: ...


@dataclass(frozen=True)
class Program:
    """A program to run. If it `has_spare`, a prestarted process waits to replace one that dies."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    has_spare: bool = False

    def start(self) -> subprocess.Popen[bytes]:
        return spawn(self)


@dataclass
class _Child:
    """A child. It has `kill_at` after a request to stop; then it is not started again."""

    program: Supervised
    process: RunningProcess
    started: float
    backoff_seconds: float = FIRST_BACKOFF_SECONDS
    restart_at: float | None = field(default=None)
    kill_at: float | None = field(default=None)
    spare: subprocess.Popen[bytes] | None = None
    spare_started_at: float = 0.0


class Supervisor:
    """A supervisor, for the main thread: Linux ends the processes with the thread that started them."""

    def __init__(self, stop_seconds: float) -> None:
        self._stop_seconds = stop_seconds
        self._children: list[_Child] = []
        self._checks: list[Callable[[], None]] = []

    def start(self, program: Supervised) -> None:
        self._children.append(_Child(program, program.start(), time.monotonic()))
        log.info("%s started", program.name)

    def request_stop(self, program: Supervised) -> None:
        """Have a child stop, and return at once. `run` kills it if it does not stop in time."""
        for child in self._children:
            if child.program == program and child.kill_at is None:
                child.kill_at = time.monotonic() + self._stop_seconds
                if child.process.poll() is None:
                    child.process.terminate()

    def add_check(self, check: Callable[[], None]) -> None:
        self._checks.append(check)

    def run(self, until: Callable[[], bool]) -> None:
        """Restart children that die, until `until` returns True; it is called at every tick."""
        while not until():
            for check in self._checks:
                check()
            self._check_children()
            time.sleep(TICK_SECONDS)

    def stop_together(self) -> None:
        """Stop all children at the same time: none depends on another."""
        for child in self._children:
            self.request_stop(child.program)
        while self._children:
            self._check_children()
            time.sleep(TICK_SECONDS)

    def stop(self) -> None:
        """Stop the children, the last started first: it may depend on those before."""
        while self._children:
            child = self._children.pop()
            if child.spare is not None:
                _end_spare(child.spare, child)
            end(child.process, self._stop_seconds, child.program.name)

    def _check_children(self) -> None:
        for child in list(self._children):
            self._check_child(child)

    def _check_child(self, child: _Child) -> None:
        now = time.monotonic()
        if child.kill_at is not None:
            self._check_stopping(child, now)
        elif child.restart_at is not None:
            if now >= child.restart_at:
                self._restart(child, now)
        elif child.process.poll() is not None:
            settled = now - child.started > SETTLED_SECONDS
            delay_seconds = 0.0 if settled else child.backoff_seconds
            child.backoff_seconds = (
                FIRST_BACKOFF_SECONDS if settled else min(delay_seconds * 2, MAX_BACKOFF_SECONDS)
            )
            child.restart_at = now + delay_seconds
            _log_death(child, delay_seconds)
        elif isinstance(child.program, Program) and child.program.has_spare:
            _ensure_spare(child, child.program, now)

    def _check_stopping(self, child: _Child, now: float) -> None:
        """Drop a child that has stopped, or kill it when its time is over."""
        assert child.kill_at is not None, "a stop was requested"
        if child.process.poll() is None and now >= child.kill_at:
            _kill(child.process, self._stop_seconds, child.program.name)
        if child.process.poll() is not None:
            self._children.remove(child)
            if child.spare is not None:
                _end_spare(child.spare, child)
            log.info("%s stopped", child.program.name)

    def _restart(self, child: _Child, now: float) -> None:
        try:
            child.process, child.started, child.restart_at = _successor(child), now, None
        except OSError as error:
            # The limit of processes or memory is reached. The other children must keep running.
            log.error("%s cannot be started: %s", child.program.name, error)
            child.restart_at = now + MAX_BACKOFF_SECONDS


def _ensure_spare(child: _Child, program: Program, now: float) -> None:
    """Start a missing spare, but only once the child has settled, and not too often."""
    has_spare = child.spare is not None and child.spare.poll() is None
    if has_spare or now - max(child.started, child.spare_started_at) <= SETTLED_SECONDS:
        return
    if child.spare is not None:
        _end_spare(child.spare, child)
    child.spare, child.spare_started_at = None, now
    try:
        child.spare = spawn(program, waiting=True)
    except OSError as error:
        log.warning("%s has no spare: %s", child.program.name, error)


def _successor(child: _Child) -> RunningProcess:
    spare, child.spare = child.spare, None
    if spare is not None:
        if give_turn(spare):
            return spare
        _end_spare(spare, child)
    return child.program.start()


def _end_spare(spare: subprocess.Popen[bytes], child: _Child) -> None:
    end(spare, SPARE_STOP_SECONDS, child.program.name)


def _log_death(child: _Child, delay_seconds: float) -> None:
    status = child.process.returncode
    assert status is not None, "it has ended"
    how = describe_exit(status)
    if delay_seconds:
        log.warning("%s %s; restarting it in %.1f s", child.program.name, how, delay_seconds)
    else:
        log.warning("%s %s; restarting it at once", child.program.name, how)


def spawn(
    program: Program, *, output: IO[bytes] | None = None, waiting: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program in its own session: Ctrl-C reaches only this process, which stops the others in order.

    Its output goes to `output`, by default to that of this process. With `waiting`, it waits for its turn.
    """
    parent = os.getpid()
    return subprocess.Popen(
        list(program.argv),
        env=waiting_environment(program.env) if waiting else dict(program.env),
        stdin=subprocess.PIPE if waiting else subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=lambda: die_with(parent, signal.SIGTERM),  # noqa: PLW1509  (one system call, in a process of one thread)
    )


def end(process: RunningProcess, stop_seconds: float, name: str) -> None:
    process.terminate()
    try:
        process.wait(stop_seconds)
    except subprocess.TimeoutExpired:
        _kill(process, stop_seconds, name)
    if process.stdin is not None:
        process.stdin.close()


def _kill(process: RunningProcess, stop_seconds: float, name: str) -> None:
    log.warning("%s did not stop within %.1f s; killing it", name, stop_seconds)
    # Kill the group, with the children of the process. It is not reaped yet, so its number is not reused.
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
