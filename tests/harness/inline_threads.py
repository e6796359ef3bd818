"""Stand-ins for a thread and a pool of threads: they run each call at once, in the thread that gives it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class InlineThread:
    """Replaces `threading.Thread`."""

    def __init__(self, target: Callable[[], object], **_: Any) -> None:
        self.start = target


class InlineExecutor:
    """Replaces `ThreadPoolExecutor`."""

    def __init__(self, *_: Any) -> None:
        pass

    def __enter__(self) -> InlineExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, call: Callable[..., T], *arguments: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future
