"""The product-limit estimate (Kaplan and Meier, 1958) of the time left until a recipe starts.

A recipe is observed while it waits, from one length of its wait to another. If it has not started by then,
the observation is censored: its wait is longer, by an unknown time. Each start reduces the share of recipes
that still wait by the proportion of the recipes that were observed at that length of wait. So a long wait
counts from its first second, and not only once it is over.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import neg
from typing import Final, NamedTuple

_P50, _P90 = 0.5, 0.9
# Differences of shares below this are rounding errors.
_ROUNDING: Final = 1e-9


class Observation(NamedTuple):
    """The observation of recipes from one length of their wait to another, in any unit of time.

    `started`: they started at its end. Otherwise they waited longer, or ended without a start.
    """

    begin: float
    end: float
    started: bool
    recipes: int = 1


class TimeLeft(NamedTuple):
    """The times within which a half and nine tenths of comparable recipes start, from now on.

    A time is None if too few of them have started within `longest`, the longest observed time.
    """

    p50: float | None
    p90: float | None
    longest: float


class ProductLimit:
    """The shares of recipes that still wait, by length of wait, for recipes that have waited for any time."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._longest = max((each.end for each in observations), default=0.0)
        begins = _Counted([(each.begin, each.recipes) for each in observations])
        ends = _Counted([(each.end, each.recipes) for each in observations])
        starts = _Counted([(each.end, each.recipes) for each in observations if each.started])
        # The lengths of wait at which recipes started, and the shares that wait longer, from all on.
        self._lengths = starts.lengths
        self._shares = [1.0]
        for length in starts.lengths:
            started = starts.until(length) - starts.before(length)
            observed = begins.until(length) - ends.before(length)
            self._shares.append(self._shares[-1] * (1 - started / (observed + 1)))

    def time_left(self, waited: float) -> TimeLeft:
        """Return the time left for a recipe that has waited so long already.

        The recipe itself counts as one more that is observed without an end: a further recipe starts in each
        of the n + 1 gaps between n observed starts with equal probability. So fewer than nine starts give no
        p90, because one recipe in ten waits longer than all of them.
        """
        longest = max(self._longest, waited) - waited
        return TimeLeft(self._quantile(_P50, waited), self._quantile(_P90, waited), longest)

    def _quantile(self, share: float, waited: float) -> float | None:
        """Return the time within which a share of the recipes starts that have waited so long."""
        # A recipe that has not waited yet may start at once.
        first = bisect_right(self._lengths, waited) if waited else 0
        waiting = self._shares[first] * (1 - share + _ROUNDING)
        number = bisect_left(self._shares, -waiting, first + 1, key=neg) - 1
        return self._lengths[number] - waited if number < len(self._lengths) else None


class _Counted:
    """Numbers of recipes by length of wait: those before a length, and those until it."""

    def __init__(self, counted: list[tuple[float, int]]) -> None:
        counted.sort()
        self._sorted = [length for length, _ in counted]
        self._sums = list(accumulate((recipes for _, recipes in counted), initial=0))
        self.lengths = list(dict.fromkeys(self._sorted))

    def before(self, length: float) -> int:
        return self._sums[bisect_left(self._sorted, length)]

    def until(self, length: float) -> int:
        return self._sums[bisect_right(self._sorted, length)]
