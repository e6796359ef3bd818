"""Which columns of a table a terminal has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Between two columns.
GAP = 2
# Text that goes on in the next line is readable from here on.
NARROWEST_TEXT = 16


@dataclass(frozen=True)
class Need:
    """What a column asks for. The higher its `rank`, the sooner it is left out; 0: never."""

    width: int
    wraps: bool
    rank: int

    @property
    def least(self) -> int:
        return min(self.width, NARROWEST_TEXT) if self.wraps else self.width


def kept(needs: Sequence[Need], available: int) -> list[int] | None:
    """The places of the columns that stay; None where not even those of rank 0 have room.

    Of columns with the same rank the last goes first.
    """
    places = list(range(len(needs)))
    while _width([needs[place].least for place in places]) > available:
        last = max(places, key=lambda place: (needs[place].rank, place), default=None)
        if last is None or needs[last].rank == 0:
            return None
        places.remove(last)
    return places


def _width(columns: Sequence[int]) -> int:
    return sum(columns) + GAP * max(0, len(columns) - 1)
