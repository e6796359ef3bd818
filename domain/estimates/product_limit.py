"""The product-limit estimate (Kaplan and Meier, 1958) of the time left until a recipe starts.

A recipe is observed while it waits, from one length of its wait to another. If it has not started by then,
the observation is censored: its wait is longer, by an unknown time. Each start reduces the share of recipes
that still wait by the proportion of the recipes that were observed at that length of wait. So a long wait
counts from its first second, and not only once it is over.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
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


def time_left(observations: Sequence[Observation], waited: float) -> TimeLeft:
    """Return the time left for a recipe that has waited so long already.

    The recipe itself counts as one more that is observed without an end: a further recipe starts in each of
    the n + 1 gaps between n observed starts with equal probability. So fewer than nine starts give no p90,
    because one recipe in ten waits longer than all of them.
    """
    relevant = [each for each in observations if is_comparable(each, waited)]
    longest = max((each.end for each in relevant), default=waited) - waited
    p50 = p90 = None
    for length, share_waiting in _shares_waiting(relevant):
        if p50 is None and share_waiting <= 1 - _P50 + _ROUNDING:
            p50 = length - waited
        if share_waiting <= 1 - _P90 + _ROUNDING:
            p90 = length - waited
            break
    return TimeLeft(p50, p90, longest)


def is_comparable(observation: Observation, waited: float) -> bool:
    """Return whether the recipes waited longer. A recipe that has not waited yet may start at once."""
    return observation.end > waited or waited == 0


def _shares_waiting(observations: Sequence[Observation]) -> Iterator[tuple[float, float]]:
    """Yield each length of wait at which recipes started, with the share that waits longer."""
    begins = _Counted([(each.begin, each.recipes) for each in observations])
    ends = _Counted([(each.end, each.recipes) for each in observations])
    starts = _Counted([(each.end, each.recipes) for each in observations if each.started])
    share = 1.0
    for length in starts.lengths:
        started = starts.until(length) - starts.before(length)
        observed = begins.until(length) - ends.before(length)
        share *= 1 - started / (observed + 1)
        yield length, share


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
