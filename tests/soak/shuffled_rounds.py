"""Random order in which every item comes once before any is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def shuffled_rounds(chance: Random, items: Sequence[T]) -> Iterator[T]:
    """Yield the items without end, in a new random order each time."""
    while True:
        yield from chance.sample(items, len(items))
