"""A progress bar for what takes longer than a second, where a person looks on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def advancing(what: str, items: Sequence[T]) -> Iterator[T]:
    """The items, one by one; on a terminal a bar (on standard error) says how many are done."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, console=Console(stderr=True), transient=True)
