"""A stand-in for a thread pool."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class InlineExecutor:
    """Runs each call when it is submitted, in the thread that submits it. Takes the arguments of a pool."""

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
