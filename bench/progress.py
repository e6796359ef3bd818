"""Progress of a benchmark."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a step, the completed amount, and the total."""


def no_progress(what: str, done: int, of: int) -> None:
    """Ignore the progress."""
