"""The number of recipes of a line ahead of a recipe, by filter and kind of system (design 4.2, 5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.lines import RecipeCounts
from domain.scheduling.demand.ranked import Rank


class AheadCounts:
    """Counts of one line, valid while nothing changes. Without a `rank`, every recipe of the line is ahead.

    A kind of system is identified by `maxima`, the maximum effective priority of each submitter there (0: not
    allowed), and by `effective`, the effective priority of the recipe there.
    """

    def __init__(self, recipe_counts: RecipeCounts, rank: Rank | None) -> None:
        self._recipe_counts = recipe_counts
        self._rank = rank
        self._before_rank = {} if rank is None else recipe_counts.before(rank)
        self._sums: dict[tuple[tuple[int, ...], int], BitSlicedNumbers] = {}
        self._for_equal_maxima: dict[tuple[int, int], BitSlicedNumbers] = {}
        self._of_submitter: dict[tuple[int, int, int], BitSlicedNumbers] = {}

    def counted(self, maxima: tuple[int, ...], effective: int) -> BitSlicedNumbers:
        """Return the number of recipes ahead by filter number; `maxima` are by submitter number."""
        kind = maxima, effective
        if kind not in self._sums:
            self._sums[kind] = self._sum(maxima, effective)
        return self._sums[kind]

    def _sum(self, maxima: tuple[int, ...], effective: int) -> BitSlicedNumbers:
        """Return the sum over all submitters: as if all had the most frequent maximum, then corrected."""
        ((usual, _),) = Counter(maxima).most_common(1)
        total = BitSlicedNumbers()
        total.add_each(self._with_equal_maxima(len(maxima), usual, effective))
        for submitter, maximum in enumerate(maxima):
            if maximum != usual:
                total.subtract_each(self._count_of(submitter, usual, effective))
                total.add_each(self._count_of(submitter, maximum, effective))
        return total

    def _with_equal_maxima(self, submitter_count: int, maximum: int, effective: int) -> BitSlicedNumbers:
        kind = maximum, effective
        if kind not in self._for_equal_maxima:
            total = self._for_equal_maxima[kind] = BitSlicedNumbers()
            for submitter in range(submitter_count):
                total.add_each(self._count_of(submitter, maximum, effective))
        return self._for_equal_maxima[kind]

    def _count_of(self, submitter: int, maximum: int, effective: int) -> BitSlicedNumbers:
        kind = submitter, maximum, effective
        if kind not in self._of_submitter:
            total = self._of_submitter[kind] = BitSlicedNumbers()
            for counts in self._counts_of(submitter, maximum, effective) if maximum else ():
                total.add_each(counts)
        return self._of_submitter[kind]

    def _counts_of(self, submitter: int, maximum: int, effective: int) -> Iterator[BitSlicedNumbers]:
        own = None if self._rank is None else -self._rank.negative_priority
        for nominal, counted in self._recipe_counts.of(submitter).items():
            if own is None or (min(nominal, maximum), nominal) > (effective, own):
                yield counted
        if submitter in self._before_rank and own is not None and min(own, maximum) == effective:
            yield self._before_rank[submitter]
