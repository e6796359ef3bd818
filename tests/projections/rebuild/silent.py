"""A progress callback that does nothing."""

from __future__ import annotations


def silent(position: int, end: int) -> None:
    """Ignore the progress."""
