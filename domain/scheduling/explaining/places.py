"""The rank of a recipe on thousands of systems at once (design 4.2, 5.2).

Whether a recipe ranks ahead of another on a system depends on their submitters and on the maximum effective
priorities there, which are equal for systems with equal `SubmitRights`. So recipes are counted by filter,
submitter and nominal priority (`lines.py`), and `AheadCounts` adds up the counts of those ahead per kind of
system. For each system, the counts of the filters that it fits are added, by intersecting its signature with
the bit planes of the counts.

While queues have turns, a recipe of another queue is ahead if its queue has the earlier turn where the paths
of both part (design 6.2). With different orders one below another, the order of a system, which `places_on`
has, may depend on third recipes, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from domain.access.submit_rights import SubmitRights
from domain.contention.weights import shown_weight
from domain.queues.order import Contender
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import lowest
from domain.scheduling.decisions.system_order import lines_of, queues_of, tiers_of
from domain.scheduling.demand.lines import OWED, QUEUED, RecipeCounts, queue_line, ranks_as_queued
from domain.scheduling.demand.order import Place
from domain.scheduling.explaining.claimants import BEFORE_TIERS, places_with_claimant
from domain.scheduling.explaining.queue_reasons import queue_of, why_queue_is_first
from domain.scheduling.explaining.shown_weights import weight_of
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.queue_turns import ONE_LINE
from domain.scheduling.supply.reasons import CLAIMS_IT, ITS_SET_IS_IN_LAB, OVERTAKEN, SUBMITTED_BEFORE
from domain.scheduling.world.partition import Partition
from domain.system.state import System


def _no_turn(_theirs: int, _mine: int) -> int:
    return 0


class Places:
    """The places of one unplaced recipe; a new one counts as queued. Valid until the partition changes."""

    def __init__(self, partition: Partition, host: Recipe) -> None:
        self._partition = partition
        sets = partition.sets
        self._queue = sets.turns.queue_of(sets.sets[host.recipe_set_id])
        self._line = sets.places.line_of(host) or queue_line(QUEUED, self._queue)
        self._rank = sets.rank(host)
        self._submitter = partition.sets.index.demand(host).submitter
        self._lines: dict[tuple[str, bool], AheadCounts | None] = {}

    def before(self, systems: int) -> dict[int, int]:
        """Map each system number in `systems` to the number of eligible recipes ranked ahead of this one."""
        filters = self._partition.filters
        for_all = systems & self._partition.available.usable(forced=False)
        ahead = {}
        for kind, counts_by_line in self._kinds(systems):
            for part, forced_only in ((kind & for_all, False), (kind & ~for_all, True)):
                for number, signature in filters.signatures_of(part, forced_only=forced_only):
                    ahead[number] = sum([counts.total(signature) for counts in counts_by_line])
        return ahead

    def _kinds(self, systems: int) -> Iterator[tuple[int, list[BitSlicedNumbers]]]:
        """Yield each kind of systems, with the recipes ahead there counted by filter, for each line."""
        labs = [of_lab for _, of_lab in self._partition.labs.each() if of_lab & systems]
        for rights, of_kind in self._partition.labs.access.each():
            of_class = systems & of_kind
            for of_lab in labs if of_class else ():
                if kind := of_class & of_lab:
                    yield kind, self._counts_ahead(self._partition.system(lowest(kind)), rights)

    def _counts_ahead(self, system: System, rights: SubmitRights) -> list[BitSlicedNumbers]:
        maxima = self._partition.filters.maxima(rights)
        effective = min(
            -self._rank.negative_priority, self._partition.labs.access.cap(rights, self._submitter)
        )
        lines = (self._ahead_counts(line, limit) for line, limit in self._lines_ahead(system))
        return [line.counted(maxima, effective) for line in lines if line is not None]

    def _lines_ahead(self, system: System) -> Iterator[tuple[str, Limit | None]]:
        """Yield the lines with recipes ahead; in the recipe's own tier with a limit."""
        partition, lab = self._partition, system.lab_controller
        for tier in tiers_of(partition):
            of_queue = {queue: lines_of(partition, tier, lab, queue) for queue in queues_of(partition, tier)}
            is_own = any(self._line in lines for lines in of_queue.values())
            for queue, lines in of_queue.items():
                yield from ((line, self._limit_in(line, queue) if is_own else None) for line in lines)
            if is_own:
                return

    def _limit_in(self, line: str, queue: str) -> Limit:
        """Return the limit of the recipes of a line that are ahead: assigned before queued, weight, rank.

        In the recipe's own queue, the number of systems of the job comes before the weight.
        """
        sets, weighing, rank = self._partition.sets, self._partition.filters.weighing, self._rank
        host, is_queued = sets.recipes[self._rank.recipe_id], ranks_as_queued(line)
        is_own = queue in (ONE_LINE, self._queue)
        systems = sets.places.systems(host) if is_own else 0
        own = ranks_as_queued(self._line), systems, sets.places.weight(host), rank

        def is_ahead(other: Rank, number: int) -> bool:
            theirs = weighing.classes[number].systems if is_own else 0
            return (is_queued, theirs, weighing.of_group(number, other.recipe_id), other) < own

        def turn(theirs: int, mine: int) -> int:
            return sets.turns.compare(Contender(queue, theirs), Contender(self._queue, mine))

        return Limit(-rank.negative_priority, is_ahead, _no_turn if is_own else turn)

    def _ahead_counts(self, line: str, limit: Limit | None) -> AheadCounts | None:
        """Return the counts of a line, or None if the line is empty."""
        # A line has a limit in the lab to which the recipe is bound, and none in other labs.
        key = line, limit is None
        if key not in self._lines:
            recipe_counts = self._partition.filters.recipe_counts(line)
            self._lines[key] = None if recipe_counts is None else AheadCounts(recipe_counts, limit)
        return self._lines[key]


class RankedRecipe(NamedTuple):
    """A recipe in the order of a system; `key` is its sort key, `weight` is None if weights are off."""

    recipe_id: int
    priority: int
    effective_priority: int
    weight: float | None
    key: tuple[int, ...]


START: Final = (BEFORE_TIERS, *[-(2**15)] * 2, 0, 0, 0, 0, 0)
"""A sort key before that of any recipe."""


def places_on(
    partition: Partition, system: System, now: datetime, after: Sequence[int] = START
) -> Iterator[RankedRecipe]:
    """Yield the claimant of a system, then the other eligible recipes by rank at `now`, behind `after`."""
    partition.weigh_at(now)
    is_one_line = partition.sets.turns.is_one_line
    ranked = (_ranked(partition, *found) for found in places_with_claimant(partition, system))
    if is_one_line:
        return (each for each in ranked if each.key > tuple(after))
    # The keys of different queues are in no order.
    numbered = (each._replace(key=(number, *each.key[1:])) for number, each in enumerate(ranked, 1))
    return _behind(numbered, number=max(after[0], 0), recipe_id=after[-1])


def _ranked(partition: Partition, tier: int, place: Place) -> RankedRecipe:
    *order, rank = place
    weight = weight_of(partition, partition.sets.recipes[rank.recipe_id])
    priorities = -place.negative_priority, -place.negative_effective
    return RankedRecipe(rank.recipe_id, *priorities, weight, (tier, *map(int, order), *rank[1:]))


def _behind(ranked: Iterator[RankedRecipe], number: int, recipe_id: int) -> Iterator[RankedRecipe]:
    """Yield the recipes behind one, or from its former number on if it has left the queue."""
    passed: list[RankedRecipe] = []
    for each in ranked if number else ():
        if each.recipe_id == recipe_id:
            passed.clear()
            break
        passed.append(each)
    yield from passed[max(number - 1, 0) :]
    yield from ranked


def why_before(partition: Partition, recipe: Recipe, other: Recipe, system: System) -> str:
    """Return why another recipe ranks ahead of this one on a system that both could have."""
    if other.claim is not None and other.claim.system == system.fqdn:
        return CLAIMS_IT
    why_first = _why_first(partition, recipe, other)
    if why_first is not None and partition.sets.turns.is_assigned_first:
        return why_first
    theirs, mine = (partition.effective_priority(each, system) for each in (other, recipe))
    contenders = Contender(queue_of(partition, other), theirs), Contender(queue_of(partition, recipe), mine)
    if why_turn := why_queue_is_first(partition, *contenders):
        return why_turn
    if theirs != mine:
        return f"effective priority {theirs.name} before {mine.name}"
    theirs, mine = (partition.sets.sets[each.recipe_set_id].priority for each in (other, recipe))
    if theirs != mine:
        return f"priority {theirs.name} before {mine.name}"
    if why_first is not None:
        return why_first
    is_owed = partition.sets.overtakings.is_owed
    if is_owed(other.recipe_set_id) and not is_owed(recipe.recipe_set_id):
        return OVERTAKEN
    systems = partition.sets.places.systems
    if queue_of(partition, recipe) == queue_of(partition, other) and systems(other) < systems(recipe):
        return f"its job has {systems(other)} systems before {systems(recipe)}"
    coefficient = partition.configuration.weights.coefficient
    lighter, heavier = (partition.sets.places.weight(each) for each in (other, recipe))
    if lighter != heavier:
        shown = (f"{shown_weight(weight, coefficient):.2f}" for weight in (lighter, heavier))
        return "weight " + " before ".join(shown)
    return SUBMITTED_BEFORE


def _why_first(partition: Partition, recipe: Recipe, other: Recipe) -> str | None:
    """Return why another recipe comes before the queued ones, among which this one is; otherwise None."""
    theirs, mine = (partition.sets.places.line_of(each) or QUEUED for each in (other, recipe))
    if ranks_as_queued(theirs) or not ranks_as_queued(mine):
        return None
    return OVERTAKEN if theirs.startswith(OWED) else ITS_SET_IS_IN_LAB


class Limit(NamedTuple):
    """The nominal priority of a recipe, and whether an equal one, by rank and profile, is ahead of it.

    `turn` returns from the effective priorities of another recipe and of this one which queue has the earlier
    turn: below 0 that of the other, above 0 that of this one, 0 if the priorities decide.
    """

    nominal: int
    is_ahead: Callable[[Rank, int], bool]
    turn: Callable[[int, int], int]


class AheadCounts:
    """Counts of a line, valid until the partition changes. Without a `limit`, all its recipes are ahead.

    A kind of system is identified by `maxima`, the maximum effective priority of each submitter there (0: not
    allowed), and by `effective`, the effective priority of the recipe there.
    """

    def __init__(self, recipe_counts: RecipeCounts, limit: Limit | None) -> None:
        self._recipe_counts = recipe_counts
        self._nominal = None if limit is None else limit.nominal
        self._turn = _no_turn if limit is None else limit.turn
        self._ahead_of_equals = {} if limit is None else recipe_counts.before(limit.nominal, limit.is_ahead)
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
        own = self._nominal
        for nominal, counted in self._recipe_counts.of(submitter).items():
            theirs = min(nominal, maximum)
            turn = self._turn(theirs, effective)
            if own is None or turn < 0 or (turn == 0 and (theirs, nominal) > (effective, own)):
                yield counted
        is_equal = own is not None and min(own, maximum) == effective
        if submitter in self._ahead_of_equals and is_equal and self._turn(effective, effective) == 0:
            yield self._ahead_of_equals[submitter]
