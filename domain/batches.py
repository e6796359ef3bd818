"""Parts of a sequence, for commits and queries of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Return parts of at most `size` items."""
    return (items[first : first + size] for first in range(0, len(items), size))
