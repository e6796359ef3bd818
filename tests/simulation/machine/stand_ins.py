"""Replacements of clocks, threads and random numbers in the modules of production code.

Each use of a clock, a thread or a random number in the service needs a row here; the test that runs a seed
twice finds a missing one.
"""

from __future__ import annotations

import asyncio
import queue
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from tests.harness.inline_threads import InlineExecutor, InlineThread
from tests.simulation.machine.loop import SimulatedLoop
from tests.simulation.machine.strands import RUNNING, Strand, current

TIMED = (
    "api.feed",
    "store.group_commit",
    "store.lease",
    "store.tailer",
    "api.use_cases.commit",
    "api.use_cases.report_progress",
    "workers.heartbeat",
    "workers.snapshotting",
    "workers.projector",
    "workers.scheduler",
    "cli.lab.agent",
    "cli.lab.sender",
    "projections.advancing",
)
THREADED = ("api.feed", "store.group_commit", "workers.heartbeat")
MAPPED = ("store.event_log", "workers.projector")
CONNECTED = ("store.lease", "store.tailer", "workers.projector")


class SimulatedEvent:
    """Replaces `threading.Event`."""

    def __init__(self) -> None:
        self._set = False
        self._waiting: list[Strand] = []

    def set(self) -> None:
        self._set = True
        for strand in self._waiting:
            strand.wake()

    def is_set(self) -> bool:
        return self._set

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout: float | None = None) -> bool:
        if not self._set:
            self._waiting.append(current())
            current().wait(timeout)
            self._waiting.remove(current())
        return self._set


class Thread:
    """Replaces `threading.Thread`; the strand belongs to the process that starts it."""

    def __init__(self, target: Callable[..., Any], args: tuple[Any, ...] = (), **_: Any) -> None:
        self._work = lambda: target(*args)
        self._strand: Strand | None = None

    def start(self) -> None:
        self._strand = RUNNING.get().strand(self._work)

    def join(self) -> None:
        assert self._strand is not None
        self._strand.join()


class SimpleQueue:
    """Replaces `queue.SimpleQueue`, for one reader."""

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self._reader: Strand | None = None

    def put(self, item: Any) -> None:
        self._items.append(item)
        if self._reader is not None:
            self._reader.wake()

    def get(self, block: bool = True) -> Any:
        while not self._items:
            if not block:
                raise queue.Empty
            self._reader = current()
            self._reader.wait(None)
            self._reader = None
        return self._items.popleft()

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def qsize(self) -> int:
        return len(self._items)


class Threadsafe:
    """Replaces asyncio, except that a strand waits for the coroutine that it passes to the event loop."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    def run_coroutine_threadsafe(self, coroutine: Any, _: Any) -> Any:
        task = RUNNING.get().task(coroutine)
        waiting = current()
        task.add_done_callback(lambda _: waiting.wake())

        def result() -> Any:
            while not task.done():
                waiting.wait(None)
            return task.result()

        return SimpleNamespace(result=result)


class SequentialNumbers:
    """Replaces random numbers with consecutive ones."""

    def __init__(self) -> None:
        self._last = 0

    def getrandbits(self, count: int) -> int:
        self._last += 1
        return self._last % 2**count


def _table(loop: SimulatedLoop, connect: Any, datastore: Any, mapper: Any) -> dict[tuple[str, str], Any]:
    clock = SimpleNamespace(monotonic=loop.time, sleep=lambda seconds: current().wait(seconds))
    threading = SimpleNamespace(Thread=Thread, Event=SimulatedEvent, get_ident=lambda: 0)
    own_end = SimpleNamespace(getpid=lambda: 0, kill=lambda *_: _ended_itself())
    return {
        **{(module, "time"): clock for module in TIMED},
        **{(module, "threading"): threading for module in THREADED},
        **{(module, "connect"): connect for module in CONNECTED},
        ("store.event_log", "Datastore"): datastore,
        ("store.group_commit", "queue"): SimpleNamespace(SimpleQueue=SimpleQueue, Empty=queue.Empty),
        ("store.requests", "CHANCE"): SequentialNumbers(),
        ("store.requests", "time"): SimpleNamespace(time_ns=lambda: 0),
        ("api.feed", "asyncio"): Threadsafe(),
        # The log of a seed has only some hundred events.
        ("workers.snapshotting", "SNAPSHOT_EVENTS"): 100,
        ("workers.snapshotting", "Thread"): InlineThread,
        ("store.snapshots", "ThreadPoolExecutor"): InlineExecutor,
        **{(module, "EventMapper"): mapper for module in MAPPED},
        ("api.feed", "os"): own_end,
        # The simulated connection accepts rows as they are.
        ("postgres.binary_copy", "encoded"): lambda rows, _: rows,
        ("postgres.binary_copy", "array"): lambda _, column: column,
        # The cache would keep the data of former processes and seeds.
        ("api.feed", "gc_paused"): nullcontext,
    }


def _ended_itself() -> None:
    raise AssertionError("an API process cannot read its log")


@contextmanager
def stand_ins(loop: SimulatedLoop, connect: Any, datastore: Any, mapper: Any) -> Iterator[None]:
    """Patch the modules of production code within the context."""
    before: dict[tuple[str, str], Any] = {}
    try:
        for (module, name), instead in _table(loop, connect, datastore, mapper).items():
            found = import_module(module)
            before[module, name] = getattr(found, name)
            setattr(found, name, instead)
        yield
    finally:
        for (module, name), was in before.items():
            setattr(import_module(module), name, was)
