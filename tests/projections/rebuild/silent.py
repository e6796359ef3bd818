"""A rebuild that tells nobody how far it is."""

from __future__ import annotations


def silent(position: int, end: int) -> None:
    """Nobody wants to know how far it is."""
