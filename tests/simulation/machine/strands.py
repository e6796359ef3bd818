"""Strands in place of threads, and their processes. One strand runs at a time, until it waits.

A call that blocks in production (a query, a sleep, a lock) is a wait here. At each wait other strands run,
and the process may be killed or stopped.
"""

from __future__ import annotations

import asyncio
import contextvars
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from greenlet import getcurrent, greenlet

from tests.simulation.machine.loop import SimulatedLoop

RUNNING: ContextVar[Process] = ContextVar("process")
"""The process whose code runs now."""


class Killed(BaseException):
    """The process of this strand was killed: its further actions have no effect."""


class _Greenlet(greenlet):
    strand: Strand


class Strand:
    def __init__(self, process: Process, work: Callable[[], Any]) -> None:
        self.process = process
        self.ended = False
        self._work = work
        self._waiting = False
        self._woken = False
        self._handle: asyncio.Handle | None = None
        self._joined: list[Strand] = []
        self._greenlet = _Greenlet(self._run)
        self._greenlet.strand = self
        self._greenlet.gr_context = contextvars.copy_context()

    def start(self) -> None:
        self._waiting = True
        self._handle = self.process.loop.call_soon(self._go_on)

    def wait(self, seconds: float | None) -> bool:
        """Wait, and return whether the strand was woken before the time was up.

        None waits until it is woken.
        """
        self._woken, self._waiting = False, True
        if seconds is not None:
            self._handle = self.process.loop.call_later(seconds, self._go_on)
        self._greenlet.parent.switch()  # type: ignore[union-attr]
        if not self.process.alive:
            raise Killed
        return self._woken

    def wake(self) -> None:
        if self._waiting and not self._woken:
            self._woken = True
            if self._handle is not None:
                self._handle.cancel()
            self._handle = self.process.loop.call_soon(self._go_on)

    def resume(self) -> None:
        """Go on soon, although the process was to be stopped for longer."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self.process.loop.call_soon(self._go_on)

    def join(self) -> None:
        if not self.ended:
            self._joined.append(current())
            current().wait(None)

    def end(self) -> None:
        """End the strand of a killed process. Its remaining code has no effect, as every wait raises."""
        if self._handle is not None:
            self._handle.cancel()
        if not self.ended and self._greenlet:
            self._greenlet.parent = getcurrent()
            self._greenlet.throw(Killed)
        self.ended = True

    def _go_on(self) -> None:
        until = self.process.stopped_until
        if until > self.process.loop.seconds:
            self._handle = self.process.loop.call_at(until, self._go_on)
            self.process.held[self] = None
            return
        self.process.held.pop(self, None)
        self._waiting, self._handle = False, None
        self._greenlet.parent = getcurrent()
        self._greenlet.switch()

    def _run(self) -> None:
        RUNNING.set(self.process)
        try:
            if self.process.alive:
                self._work()
        except Killed:
            pass
        except BaseException as error:
            self.process.failed(error)
        finally:
            self.ended = True
            self.process.strands.pop(self, None)
            for waiting in self._joined:
                waiting.wake()


def current() -> Strand:
    running = getcurrent()
    assert isinstance(running, _Greenlet), "only strands may block"
    return running.strand


class Process:
    """A process of the simulation.

    `alive` is True until it is killed. Before `stopped_until` none of its strands runs; `held` are
    those that would run.
    """

    def __init__(self, name: str, loop: SimulatedLoop, on_failure: Callable[[Process, str], None]) -> None:
        self.name = name
        self.loop = loop
        self.alive = True
        self.stopping = False
        self.stopped_until = 0.0
        self.strands: dict[Strand, None] = {}
        self.held: dict[Strand, None] = {}
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self._on_failure = on_failure
        self._on_death: list[Callable[[], None]] = []

    def strand(self, work: Callable[[], Any]) -> Strand:
        made = Strand(self, work)
        self.strands[made] = None
        made.start()
        return made

    def task(self, coroutine: Any) -> asyncio.Task[Any]:
        context = contextvars.copy_context()
        context.run(RUNNING.set, self)
        made = self.loop.create_task(coroutine, context=context)
        self.tasks[made] = None
        made.add_done_callback(lambda done: self.tasks.pop(done, None))
        return made

    def resume(self) -> None:
        """Let a stopped process go on at once, as SIGCONT does."""
        self.stopped_until = 0.0
        for strand in self.held:
            strand.resume()

    def at_death(self, act: Callable[[], None]) -> None:
        self._on_death.append(act)

    def kill(self) -> None:
        """Kill the process at once, as `kill -9` does."""
        if self.alive:
            self.alive = False
            for act in self._on_death:
                act()
            for task in list(self.tasks):
                task.cancel()
            for strand in list(self.strands):
                if strand is not getattr(getcurrent(), "strand", None):
                    strand.end()

    def failed(self, error: BaseException) -> None:
        """Report an uncaught error."""
        self._on_failure(self, "".join(traceback.format_exception(error)))


def in_strand(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """Run work in a strand, and return a future of its result."""
    process = RUNNING.get()
    future = process.loop.create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:
            if not future.done():
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(result)

    process.strand(run)
    return future
