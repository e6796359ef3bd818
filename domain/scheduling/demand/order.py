"""The recipes of a line in the rank order of a system (design 5.2).

The order is by effective priority, nominal priority and submission. Recipes with the same filter and
submitter have the same order on every system. Therefore only the first recipe of each filter and submitter is
compared, and mostly it suffices to find the very first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.demand.lines import Line
from domain.scheduling.demand.ranked import Rank
from domain.scheduling.demand.submitters import Order

ANY_SUBMITTER: Final = -1
"""The submitter number of a search over all submitters."""

# Up to this many submitters are compared one by one. For more, the first recipes of the filters are bounds.
FEW: Final = 3
# Maximum number of filters that are tried before all submitters are compared after all.
MAX_TRIES: Final = 4


class Place(NamedTuple):
    """The sort key of a recipe on a system: effective priority, highest first, then its rank."""

    negative_effective: int
    rank: Rank


@dataclass
class Effort:
    """Counts of the work done for triggers, which tests compare with the size of the lab.

    `evaluations` are filters evaluated for the systems of a lab or some of them; `rows` are entries and
    recipes visited.
    """

    evaluations: int = 0
    rows: int = 0


class First(NamedTuple):
    """The first recipe of a filter and submitter."""

    rank: Rank
    number: int
    submitter: int


class RecipeRun(NamedTuple):
    """Heap entry: a partly consumed run of recipes, keyed by the place of its next recipe on this system."""

    place: Place
    maximum: int
    behind: Iterator[Rank]


class SubmitterFilters(NamedTuple):
    """The filters of a submitter that are still to be searched."""

    submitter: int
    filters: int


def ordered_places(line: Line, filters: int, order: Order, effort: Effort) -> Iterator[Place]:
    """Yield the places of the recipes with these filters in rank order, while nothing changes."""
    runs: list[RecipeRun] = []
    for first in _firsts(line, filters, order):
        effort.rows += 1
        maximum = order.maxima[(line.only or 0) if first.submitter == ANY_SUBMITTER else first.submitter]
        place = _place(first.rank, maximum)
        while runs and runs[0].place < place:
            yield _next(runs)
        # Most callers take only this place, and so look at one recipe.
        yield place
        _push_run(runs, maximum, _behind(line, first))
    while runs:
        yield _next(runs)


def _firsts(line: Line, filters: int, order: Order) -> Iterator[First]:
    if not order.same_for_all and line.only is None:
        for step in order.steps:
            yield from _of_step(line, filters, step.nominal, step.submitters)
    elif order.maxima[line.only or 0]:
        yield from (
            First(rank, number, ANY_SUBMITTER) for rank, number in line.first_recipes.ordered(filters)
        )


def _of_step(line: Line, filters: int, nominal: int, submitters: Sequence[int]) -> Iterator[First]:
    """Yield the first recipes of one nominal priority, by submission."""
    there = [
        SubmitterFilters(submitter, left)
        for submitter in submitters
        if submitter in line.first_by_submitter
        and (left := filters & line.first_by_submitter[submitter].nominal[nominal])
    ]
    if not there:
        return
    soonest = _soonest(line, there) if len(there) > FEW else None
    if soonest is not None:
        yield soonest
    for first in heapq.merge(*(_of_one(line, *left) for left in there)):
        if first != soonest:
            yield first


def _of_one(line: Line, submitter: int, filters: int) -> Iterator[First]:
    return (
        First(rank, number, submitter)
        for rank, number in line.first_by_submitter[submitter].of_one_priority(filters)
    )


def _soonest(line: Line, there: Sequence[SubmitterFilters]) -> First | None:
    """Return the very first of these recipes, or None if comparing all submitters is cheaper.

    The first recipes of the filters, of any submitter, are lower bounds.
    """
    best: First | None = None
    firsts = line.first_recipes.ordered(union(left.filters for left in there))
    for _, (bound, number) in zip(range(MAX_TRIES), firsts, strict=False):
        if best is not None and best.rank < bound:
            return best
        of_filter = line.by_submitter(number)
        first = min(
            First(rank, number, left.submitter)
            for left in there
            if left.filters >> number & 1 and (rank := of_filter[left.submitter].first()) is not None
        )
        best = first if best is None else min(best, first)
        if best.rank == bound:
            return best
    return None


def _behind(line: Line, first: First) -> Iterator[Rank]:
    """Return the recipes with the filter and submitter of `first`, including that one."""
    if first.submitter == ANY_SUBMITTER:
        return iter(line.recipes[first.number])
    return iter(line.by_submitter(first.number)[first.submitter])


def _place(rank: Rank, maximum: int) -> Place:
    """Return the place of a rank on a system: effective priority first, the lower of nominal and maximum."""
    return Place(max(rank.negative_priority, -maximum), rank)


def _push_run(runs: list[RecipeRun], maximum: int, ranks: Iterator[Rank]) -> None:
    """Push the run without its first recipe, which is consumed already."""
    next(ranks)
    following = next(ranks, None)
    if following is not None:
        heapq.heappush(runs, RecipeRun(_place(following, maximum), maximum, ranks))


def _next(runs: list[RecipeRun]) -> Place:
    place, maximum, ranks = runs[0]
    following = next(ranks, None)
    if following is None:
        heapq.heappop(runs)
    else:
        heapq.heapreplace(runs, RecipeRun(_place(following, maximum), maximum, ranks))
    return place
