"""Who hears how far it is."""

from __future__ import annotations

from collections.abc import Callable

Told = Callable[[str, int, int], None]
"""Told of progress: what is done, how much of it, and how much there is to do."""


def nobody(what: str, done: int, of: int) -> None:
    """For who does not look on."""
