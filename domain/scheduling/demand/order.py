"""The recipes of a line in the rank order of a system (design 5.2).

The order is by effective priority, nominal priority and submission. Recipes with the same filter and
submitter have the same order on every system. Therefore only the first recipes of each filter and submitter
are compared, and mostly the caller needs only the first of all.
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

# Up to this many submitters, their first recipes are merged at once, without looking for the very first.
MAX_MERGED_AT_ONCE: Final = 3
# Maximum number of filters that are examined to find the very first recipe.
MAX_TRIES: Final = 4


class Place(NamedTuple):
    """The sort key of a recipe on a system: effective priority, highest first, then its rank."""

    negative_effective: int
    rank: Rank


@dataclass
class Effort:
    """Costs of triggers, which tests compare: `evaluations` of filters, visited `rows` (entries, recipes)."""

    evaluations: int = 0
    rows: int = 0


class First(NamedTuple):
    """The first recipe of a filter and submitter."""

    rank: Rank
    number: int
    submitter: int


class RecipeRun(NamedTuple):
    """A heap entry: next and later recipes of one filter and submitter, whose maximum here is `maximum`."""

    place: Place
    maximum: int
    later: Iterator[Rank]


class SubmitterFilters(NamedTuple):
    """The filters of a submitter that are still to be searched."""

    submitter: int
    filters: int


def ordered_places(line: Line, filters: int, order: Order, effort: Effort) -> Iterator[Place]:
    """Yield the places of the recipes with these filters in rank order. A change invalidates the iterator."""
    runs: list[RecipeRun] = []
    for first in _firsts(line, filters, order):
        effort.rows += 1
        maximum = order.maxima[(line.only or 0) if first.submitter == ANY_SUBMITTER else first.submitter]
        place = _place(first.rank, maximum)
        while runs and runs[0].place < place:
            yield _next(runs)
        # Push the rest of the run only now, because most callers stop after the first place.
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
    searched = [
        SubmitterFilters(submitter, left)
        for submitter in submitters
        if submitter in line.first_by_submitter
        and (left := filters & line.first_by_submitter[submitter].nominal[nominal])
    ]
    if not searched:
        return
    earliest = _earliest(line, searched) if len(searched) > MAX_MERGED_AT_ONCE else None
    if earliest is not None:
        yield earliest
    for first in heapq.merge(*(_of_submitter(line, *left) for left in searched)):
        if first != earliest:
            yield first


def _of_submitter(line: Line, submitter: int, filters: int) -> Iterator[First]:
    return (
        First(rank, number, submitter)
        for rank, number in line.first_by_submitter[submitter].of_one_priority(filters)
    )


def _earliest(line: Line, searched: Sequence[SubmitterFilters]) -> First | None:
    """Return the very first of these recipes, or None if it is not found among MAX_TRIES filters.

    The first recipe of a filter over all submitters is a lower bound for the recipes of each submitter.
    """
    best: First | None = None
    firsts = line.first_recipes.ordered(union(left.filters for left in searched))
    for _, (bound, number) in zip(range(MAX_TRIES), firsts, strict=False):
        if best is not None and best.rank < bound:
            return best
        of_filter = line.by_submitter(number)
        first = min(
            First(rank, number, left.submitter)
            for left in searched
            if left.filters >> number & 1 and (rank := of_filter[left.submitter].first()) is not None
        )
        best = first if best is None else min(best, first)
        if best.rank == bound:
            return best
    return None


def _behind(line: Line, first: First) -> Iterator[Rank]:
    """Return the recipes with the filter and submitter of `first`, beginning with `first` itself."""
    if first.submitter == ANY_SUBMITTER:
        return iter(line.recipes[first.number])
    return iter(line.by_submitter(first.number)[first.submitter])


def _place(rank: Rank, maximum: int) -> Place:
    return Place(max(rank.negative_priority, -maximum), rank)


def _push_run(runs: list[RecipeRun], maximum: int, ranks: Iterator[Rank]) -> None:
    """Push a run without its first recipe, which was yielded already."""
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
