"""The recipes of a line in the rank order of a system (design 5.2).

The order is by effective priority, nominal priority, assigned before queued, weight, and submission; in a
fair leaf the number of systems that the job has comes before the weight (design 6.2). Recipes with the same
filter and submitter have the same order on every system. Therefore only the first recipes of each filter and
submitter are compared, and mostly the caller needs only the first of all.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final, NamedTuple

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.demand.heads import Answer, First, Heads
from domain.scheduling.demand.lines import Line
from domain.scheduling.demand.submitters import Order
from domain.scheduling.demand.weighing import Weighing, WeightClass
from domain.scheduling.ranked import Rank

ANY_SUBMITTER: Final = -1
"""The submitter number of a search over all submitters."""

# Up to this many submitters, their first recipes are merged at once, without looking for the very first.
MAX_MERGED_AT_ONCE: Final = 3
# Maximum number of filters that are examined to find the very first recipe.
MAX_TRIES: Final = 4


class Place(NamedTuple):
    """The sort key of a recipe on a system: both priorities, highest first, assigned first, weight, rank.

    Before the weight comes `systems`, the number of systems of the job in a fair leaf, 0 elsewhere. Recipes
    of owed sets are not queued here (`overtakings.py`).
    """

    negative_effective: int
    negative_priority: int
    is_queued: bool
    systems: int
    weight: int
    rank: Rank


@dataclass
class Effort:
    """Costs of triggers, which tests compare: `evaluations` of filters, visited `rows` (entries, recipes)."""

    evaluations: int = 0
    rows: int = 0


class RecipeRun(NamedTuple):
    """A heap entry: next and later recipes of one filter and submitter, whose maximum here is `maximum`."""

    place: Place
    maximum: int
    later: Iterator[Rank]


class SubmitterFilters(NamedTuple):
    """The filters of a submitter that are still to be searched."""

    submitter: int
    filters: int


def ordered_places(
    line: Line,
    filters: int,
    order: Order,
    effort: Effort,
    weighing: Weighing,
    is_sought: Callable[[Place], bool] | None = None,
    until: Rank | None = None,
) -> Iterator[Place]:
    """Yield the places of the recipes with these filters in rank order. A change invalidates the iterator.

    The search of each weight class, in which older recipes come first, ends at a place that is not sought.
    Recipes of sets behind that of `until` are left out.
    """
    searches = [
        _Search(line, heads, order, weighing, weight_class, until)
        for weight_class, heads in line.heads.items()
        if heads.filters & filters
    ]
    # Most callers take one place, so a search is entered only when it has had the next place.
    runs = [
        (first, number)
        for number, search in enumerate(searches)
        if (first := search.first(filters, effort)) is not None and (is_sought is None or is_sought(first))
    ]
    heapq.heapify(runs)
    later: dict[int, Iterator[Place]] = {}
    while runs:
        place, number = runs[0]
        yield place
        if number not in later:
            later[number] = islice(searches[number].places(filters, effort), 1, None)
        following = next(later[number], None)
        if following is None or not (is_sought is None or is_sought(following)):
            heapq.heappop(runs)
        else:
            heapq.heapreplace(runs, (following, number))


class _Search:
    """A search of the recipes of a line that have one weight class."""

    def __init__(
        self,
        line: Line,
        heads: Heads,
        order: Order,
        weighing: Weighing,
        weight_class: WeightClass,
        until: Rank | None,
    ) -> None:
        self._line = line
        self._heads = heads
        self._order = order
        self._weighing = weighing
        self._systems = weight_class.systems
        self._static = None if weighing.is_flat else weighing.static(weight_class)
        self._until = until

    def first(self, filters: int, effort: Effort) -> Place | None:
        """Return the first place; the last answer of these recipes often has it."""
        effort.rows += 1
        answer, filters = self._heads.answer, filters & self._heads.filters
        if answer is not None and answer.answers(filters, self._order, self._until):
            return self._place(answer.first.rank, self._maximum(answer.first))
        first = next(self._firsts(filters), None)
        return None if first is None else self._place(first.rank, self._maximum(first))

    def places(self, filters: int, effort: Effort) -> Iterator[Place]:
        line, heads, until = self._line, self._heads, self._until
        runs: list[RecipeRun] = []
        for first in self._firsts(filters):
            effort.rows += 1
            maximum = self._maximum(first)
            place = self._place(first.rank, maximum)
            while runs and runs[0].place < place:
                yield self._next(runs)
            # Push the rest of the run only now, because most callers stop after the first place.
            yield place
            behind = _behind(line, heads, first)
            self._push_run(runs, maximum, behind if until is None else _up_to(behind, until))
        while runs:
            yield self._next(runs)

    def _firsts(self, filters: int) -> Iterator[First]:
        """Yield the first recipes of filters and submitters, and keep the very first as an answer."""
        heads, order, until = self._heads, self._order, self._until
        filters &= heads.filters
        if heads.answer is not None and heads.answer.answers(filters, order, until):
            yield heads.answer.first
            yield from islice(_firsts(heads, filters, order, until), 1, None)
            return
        firsts = _firsts(heads, filters, order, until)
        for first in firsts:
            heads.answer = Answer(filters, order, until, first)
            yield first
            yield from firsts

    def _maximum(self, first: First) -> int:
        is_of_any = first.submitter == ANY_SUBMITTER
        return self._order.maxima[(self._heads.only or 0) if is_of_any else first.submitter]

    def _place(self, rank: Rank, maximum: int) -> Place:
        static = self._static
        weight = 0 if static is None else self._weighing.weight(static, rank.recipe_id)
        nominal = rank.negative_priority
        return Place(max(nominal, -maximum), nominal, self._line.is_queued, self._systems, weight, rank)

    def _push_run(self, runs: list[RecipeRun], maximum: int, ranks: Iterator[Rank]) -> None:
        """Push a run without its first recipe, which was yielded already."""
        next(ranks)
        following = next(ranks, None)
        if following is not None:
            heapq.heappush(runs, RecipeRun(self._place(following, maximum), maximum, ranks))

    def _next(self, runs: list[RecipeRun]) -> Place:
        place, maximum, ranks = runs[0]
        following = next(ranks, None)
        if following is None:
            heapq.heappop(runs)
        else:
            heapq.heapreplace(runs, RecipeRun(self._place(following, maximum), maximum, ranks))
        return place


def _firsts(heads: Heads, filters: int, order: Order, until: Rank | None) -> Iterator[First]:
    if not order.same_for_all and heads.only is None:
        for step in order.steps:
            firsts = _of_step(heads, filters, step.nominal, step.submitters)
            yield from firsts if until is None else _firsts_up_to(firsts, until)
    elif order.maxima[heads.only or 0]:
        firsts = (First(rank, number, ANY_SUBMITTER) for rank, number in heads.first_recipes.ordered(filters))
        yield from firsts if until is None else _firsts_up_to(firsts, until)


def _firsts_up_to(firsts: Iterator[First], until: Rank) -> Iterator[First]:
    return takewhile(lambda first: not until.is_before_set_of(first.rank), firsts)


def _up_to(ranks: Iterator[Rank], until: Rank) -> Iterator[Rank]:
    return takewhile(lambda rank: not until.is_before_set_of(rank), ranks)


def _of_step(heads: Heads, filters: int, nominal: int, submitters: Sequence[int]) -> Iterator[First]:
    """Yield the first recipes of one nominal priority, by submission."""
    searched = [
        SubmitterFilters(submitter, left)
        for submitter in submitters
        if submitter in heads.first_by_submitter
        and (left := filters & heads.first_by_submitter[submitter].nominal[nominal])
    ]
    if not searched:
        return
    earliest = _earliest(heads, searched) if len(searched) > MAX_MERGED_AT_ONCE else None
    if earliest is not None:
        yield earliest
    for first in heapq.merge(*(_of_submitter(heads, *left) for left in searched)):
        if first != earliest:
            yield first


def _of_submitter(heads: Heads, submitter: int, filters: int) -> Iterator[First]:
    return (
        First(rank, number, submitter)
        for rank, number in heads.first_by_submitter[submitter].of_one_priority(filters)
    )


def _earliest(heads: Heads, searched: Sequence[SubmitterFilters]) -> First | None:
    """Return the very first of these recipes, or None if it is not found among MAX_TRIES filters.

    The first recipe of a filter over all submitters is a lower bound for the recipes of each submitter.
    """
    best: First | None = None
    firsts = heads.first_recipes.ordered(union(left.filters for left in searched))
    for _, (bound, number) in zip(range(MAX_TRIES), firsts, strict=False):
        if best is not None and best.rank < bound:
            return best
        of_filter = heads.by_submitter(number)
        first = min(
            First(of_filter[left.submitter][0], number, left.submitter)
            for left in searched
            if left.filters >> number & 1
        )
        best = first if best is None else min(best, first)
        if best.rank == bound:
            return best
    return None


def _behind(line: Line, heads: Heads, first: First) -> Iterator[Rank]:
    """Return the recipes with the filter and submitter of `first` in rank order, beginning with `first`."""
    is_of_any = first.submitter == ANY_SUBMITTER
    ranks = heads.recipes[first.number] if is_of_any else heads.by_submitter(first.number)[first.submitter]
    if len(ranks) == 1:
        return line.group_of(first.rank)
    return _merged(map(line.group_of, ranks))


def _merged(groups: Iterator[Iterator[Rank]]) -> Iterator[Rank]:
    """Merge groups, given in the order of their first recipes; a group is entered only when it is due."""
    runs: list[tuple[Rank, Iterator[Rank]]] = []
    for group in groups:
        head = next(group)
        while runs and runs[0][0] < head:
            yield _next_rank(runs)
        yield head
        following = next(group, None)
        if following is not None:
            heapq.heappush(runs, (following, group))
    while runs:
        yield _next_rank(runs)


def _next_rank(runs: list[tuple[Rank, Iterator[Rank]]]) -> Rank:
    rank, group = runs[0]
    following = next(group, None)
    if following is None:
        heapq.heappop(runs)
    else:
        heapq.heapreplace(runs, (following, group))
    return rank
