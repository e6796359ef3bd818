"""Progress of long operations, shown on standard error if it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.status import Status

T = TypeVar("T")


def advancing(description: str, items: Sequence[T]) -> Iterator[T]:
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=description, console=Console(stderr=True), transient=True)


@contextmanager
def progress_bar(
    description: str = "folding", otherwise: Callable[[int, int], None] = lambda position, end: None
) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback (position, end of the log) that shows a bar; `otherwise` without a terminal."""
    if not sys.stderr.isatty():
        yield otherwise
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(description), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task("", total=None)

    def on_progress(position: int, end: int) -> None:
        progress.start()
        progress.update(task, completed=position, total=end)

    try:
        yield on_progress
    finally:
        progress.stop()


@contextmanager
def counting(description: str) -> Iterator[Callable[[int], None]]:
    """Yield a progress callback that takes a count without a total, and shows the count on a terminal."""
    status: Status | None = None

    def on_progress(count: int) -> None:
        nonlocal status
        if status is None:
            from rich.console import Console

            status = Console(stderr=True).status("")
            status.start()
        status.update(f"{description}: {count} so far")

    try:
        yield on_progress if sys.stderr.isatty() else lambda count: None
    finally:
        if status is not None:
            status.stop()
