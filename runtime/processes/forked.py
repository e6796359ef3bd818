"""Forked processes: copies of this one, which need not load their code again."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from typing import Final

from runtime.processes.child import die_with

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_FORK: Final = get_context("fork")


@dataclass(frozen=True)
class ForkedProgram:
    """A function to run in a process of its own, for a parent of one thread.

    The kernel kills the process when its parent ends. The process has its own session, so Ctrl-C reaches
    only the parent.
    """

    name: str
    run: Callable[[], None]

    def start(self) -> ForkedProcess:
        process = _FORK.Process(target=_begin, args=(os.getpid(), self.run), name=self.name, daemon=True)
        # Until the new process has its own handlers, those of the parent would lose a signal to stop.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        return ForkedProcess(process)


class ForkedProcess:
    """A forked process, with the methods of `subprocess.Popen` that a supervisor needs."""

    stdin: Final = None

    def __init__(self, process: ForkProcess) -> None:
        assert process.pid is not None, "it was started"
        self.pid: int = process.pid
        self._process = process

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status. Raises `subprocess.TimeoutExpired`."""
        self._process.join(timeout)
        if (status := self._process.exitcode) is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return status

    def terminate(self) -> None:
        self._process.terminate()


def _begin(parent: int, run: Callable[[], None]) -> None:
    os.setsid()
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
    die_with(parent, signal.SIGKILL)
    run()
