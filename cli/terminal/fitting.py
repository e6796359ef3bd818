"""The choice of the columns that fit into a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Blanks between two columns.
GAP = 2
# Minimum width of a column of wrapped text.
NARROWEST_TEXT = 16


@dataclass(frozen=True)
class Need:
    """The width that a column needs. The highest `rank` is dropped first, rank 0 never."""

    width: int
    wraps: bool
    rank: int

    @property
    def min_width(self) -> int:
        return min(self.width, NARROWEST_TEXT) if self.wraps else self.width


def fitting_columns(needs: Sequence[Need], available: int) -> list[int] | None:
    """Return the indexes of the columns that fit; None if the columns of rank 0 alone do not fit.

    Among columns of equal rank, the last one is dropped first.
    """
    places = list(range(len(needs)))
    while _width([needs[place].min_width for place in places]) > available:
        last = max(places, key=lambda place: (needs[place].rank, place), default=None)
        if last is None or needs[last].rank == 0:
            return None
        places.remove(last)
    return places


def _width(columns: Sequence[int]) -> int:
    return sum(columns) + GAP * max(0, len(columns) - 1)
