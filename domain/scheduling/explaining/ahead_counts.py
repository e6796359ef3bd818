"""How many recipes of one line stand before a recipe, by filter, on each kind of system (design 4.2, 5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.ranked import Rank
from domain.scheduling.demand.tally import Tally


class AheadCounts:
    """While nothing changes. Without a `rank` it stands in a later line, and all of this one come before it.

    A kind of system is told by the maximum effective priority of each who there (0: not allowed), and by
    `effective`, the priority that the recipe itself has there.
    """

    def __init__(self, tally: Tally, rank: Rank | None) -> None:
        self._tally = tally
        self._rank = rank
        self._alike = {} if rank is None else tally.before(rank)
        self._sums: dict[tuple[tuple[int, ...], int], BitSlicedNumbers] = {}
        self._everybody: dict[tuple[int, int], BitSlicedNumbers] = {}
        self._theirs: dict[tuple[int, int, int], BitSlicedNumbers] = {}

    def counted(self, maxima: tuple[int, ...], effective: int) -> BitSlicedNumbers:
        """By the numbers of filters; whos go by their places in `maxima`."""
        kind = maxima, effective
        if kind not in self._sums:
            self._sums[kind] = self._sum(maxima, effective)
        return self._sums[kind]

    def _sum(self, maxima: tuple[int, ...], effective: int) -> BitSlicedNumbers:
        """Policies tell few apart: they are counted apart, beside what holds for most."""
        ((most, _),) = Counter(maxima).most_common(1)
        together = BitSlicedNumbers()
        together.add_each(self._of_everybody(len(maxima), most, effective))
        for submitter, maximum in enumerate(maxima):
            if maximum != most:
                together.subtract_each(self._of(submitter, most, effective))
                together.add_each(self._of(submitter, maximum, effective))
        return together

    def _of_everybody(self, submitters: int, maximum: int, effective: int) -> BitSlicedNumbers:
        """If this were the maximum of all of them."""
        kind = maximum, effective
        if kind not in self._everybody:
            together = self._everybody[kind] = BitSlicedNumbers()
            for submitter in range(submitters):
                together.add_each(self._of(submitter, maximum, effective))
        return self._everybody[kind]

    def _of(self, submitter: int, maximum: int, effective: int) -> BitSlicedNumbers:
        kind = submitter, maximum, effective
        if kind not in self._theirs:
            together = self._theirs[kind] = BitSlicedNumbers()
            for counted in self._standing(submitter, maximum, effective) if maximum else ():
                together.add_each(counted)
        return self._theirs[kind]

    def _standing(self, submitter: int, maximum: int, effective: int) -> Iterator[BitSlicedNumbers]:
        for nominal, counted in self._tally.of(submitter).items():
            if self._rank is None or (min(nominal, maximum), nominal) > (effective, -self._rank[0]):
                yield counted
        if submitter in self._alike and self._rank is not None and min(-self._rank[0], maximum) == effective:
            yield self._alike[submitter]
