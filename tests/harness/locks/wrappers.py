"""Locks of Python that record: they replace the ones that `LockClass` makes."""

from __future__ import annotations

import asyncio
import fcntl
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType
from typing import IO, Any

from tests.harness.locks.recorder import HELD, Hold, Recorder, live_holds


class _Holds:
    """The holds of one lock; a semaphore has several at a time."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self._name = name
        self._holds: list[Hold] = []

    def enter(self) -> None:
        self._recorder.enter(self._name, source="process")

    def acquired(self) -> None:
        self._holds.append(self._recorder.hold(Hold(self._name, self)))

    def released(self) -> None:
        """Release the hold of this thread or task, or that of another one on its behalf."""
        own = [hold for hold in live_holds() if hold.lock is self]
        if hold := next(iter(own or self._holds), None):
            self._holds.remove(hold)
            self._recorder.release(hold)


class _FileHold(Hold):
    """The lock of a file, until it is closed."""

    def __init__(self, name: str, file: IO[Any]) -> None:
        super().__init__(name)
        self._file = weakref.ref(file)

    @property
    def is_over(self) -> bool:
        file = self._file()
        return self.is_released or file is None or file.closed


class RecordingMutex:
    """A mutex that records; also the lock of a condition."""

    def __init__(self, holds: _Holds) -> None:
        self._holds = holds
        self._lock = threading.Lock()
        self._owner: int | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking:
            self._holds.enter()
        if not self._lock.acquire(blocking, timeout):
            return False
        self._owner = threading.get_ident()
        self._holds.acquired()
        return True

    def release(self) -> None:
        self._owner = None
        self._holds.released()
        self._lock.release()

    def locked(self) -> bool:
        return self._lock.locked()

    def _is_owned(self) -> bool:
        return self._owner == threading.get_ident()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class _RecordingTask:
    """A lock or semaphore of tasks that records, as the first base of a class."""

    _holds: _Holds

    async def acquire(self) -> Any:
        self._holds.enter()
        await super().acquire()  # type: ignore[misc]
        self._holds.acquired()
        return True

    def release(self) -> None:
        super().release()  # type: ignore[misc]
        self._holds.released()


class RecordingTaskLock(_RecordingTask, asyncio.Lock):
    def __init__(self, holds: _Holds) -> None:
        super().__init__()
        self._holds = holds


class RecordingSemaphore(_RecordingTask, asyncio.Semaphore):
    def __init__(self, holds: _Holds, value: int) -> None:
        super().__init__(value)
        self._holds = holds


def install(locks: ModuleType, recorder: Recorder) -> None:
    """Replace the functions of `LockClass` in the module `runtime.locks`."""

    def holds(lock_class: Any) -> _Holds:
        return _Holds(recorder, lock_class.name)

    def condition(self: Any) -> threading.Condition:
        return threading.Condition(RecordingMutex(holds(self)))  # type: ignore[arg-type]

    def lock_file(self: Any, file: IO[Any], *, wait: bool) -> None:
        if wait:
            recorder.enter(self.name, source="process")
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        recorder.hold(hold := _FileHold(self.name, file))
        # A traceback may keep the closed file: then the time of the hold is too long, but it is over.
        weakref.finalize(file, recorder.release, hold)

    def shared(self: Any, collection: Any) -> Any:
        return _watched(recorder, self.name, collection)

    replaced: dict[str, Callable[..., Any]] = {
        "mutex": lambda self: RecordingMutex(holds(self)),
        "condition": condition,
        "task_lock": lambda self: RecordingTaskLock(holds(self)),
        "task_semaphore": lambda self, value: RecordingSemaphore(holds(self), value),
        "lock_file": lock_file,
        "shared": shared,
    }
    for name, function in replaced.items():
        setattr(locks.LockClass, name, function)
    _connect_threads()


def _connect_threads() -> None:
    """Let a thread of a pool have the locks of the thread or task that gives it work, and may wait for it."""
    submit = ThreadPoolExecutor.submit

    def submit_with_locks(
        self: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        held = live_holds()
        if not held:
            return submit(self, work, *args, **kwargs)

        def run() -> Any:
            token = HELD.set(held)
            try:
                return work(*args, **kwargs)
            finally:
                HELD.reset(token)

        return submit(self, run)

    ThreadPoolExecutor.submit = submit_with_locks  # type: ignore[assignment,method-assign]


def _watched(recorder: Recorder, name: str, collection: Any) -> Any:
    """Return the collection with functions that record an iteration under its lock."""
    kind = type(collection)

    def watching(method: str) -> Callable[..., Any]:
        original = getattr(kind, method)

        def watch(self: Any, *args: Any) -> Any:
            if any(hold.name == name for hold in live_holds()):
                recorder.iterate(name)
            return original(self, *args)

        return watch

    iterating: Iterable[str] = ("__iter__", "__reversed__", "keys", "values", "items", "copy", "__copy__")
    methods = {method: watching(method) for method in iterating if hasattr(kind, method)}
    return type(f"Shared{kind.__name__}", (kind,), methods)(collection)
