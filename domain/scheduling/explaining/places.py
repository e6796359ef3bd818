"""The rank of a recipe on thousands of systems at once (design 4.2, 5.2).

Whether a recipe ranks ahead of another on a system depends on their submitters and on the maximum effective
priorities there, which are equal for systems with equal `SubmitRights`. So recipes are counted by filter,
submitter and nominal priority (`lines.py`), and `AheadCounts` adds up the counts of those ahead per kind of
system. For each system, the counts of the filters that it fits are added, by intersecting its signature with
the bit planes of the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from domain.access.submit_rights import SubmitRights
from domain.priority import Priority
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import lowest
from domain.scheduling.decisions.pending_system import ranks_for_system, tiers_of
from domain.scheduling.demand.filters import QUEUED
from domain.scheduling.demand.lines import RecipeCounts
from domain.scheduling.demand.ranked import Rank
from domain.scheduling.supply.reasons import ITS_SET_IS_IN_LAB, SUBMITTED_BEFORE
from domain.scheduling.world.partition import Partition
from domain.system.state import System


class Places:
    """The places of one unplaced recipe; a new one counts as queued. Valid until the partition changes."""

    def __init__(self, partition: Partition, host: Recipe) -> None:
        self._partition = partition
        self._line = partition.sets.line_of(host) or QUEUED
        self._rank = partition.sets.rank(host)
        self._submitter = partition.sets.demand(host).submitter
        self._lines: dict[str, AheadCounts | None] = {}

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
        lines = (self._ahead_counts(line, rank) for line, rank in self._lines_ahead(system))
        return [line.counted(maxima, effective) for line in lines if line is not None]

    def _lines_ahead(self, system: System) -> Iterator[tuple[str, Rank | None]]:
        """Yield the lines with recipes ahead; in the recipe's own tier with its rank, which limits them."""
        for tier in tiers_of(system.lab_controller):
            is_own = self._line in tier
            yield from ((line, self._rank if is_own else None) for line in tier)
            if is_own:
                return

    def _ahead_counts(self, line: str, rank: Rank | None) -> AheadCounts | None:
        """Return the counts of a line, or None if the line is empty."""
        if line not in self._lines:
            recipe_counts = self._partition.filters.recipe_counts(line)
            self._lines[line] = None if recipe_counts is None else AheadCounts(recipe_counts, rank)
        return self._lines[line]


class RankedRecipe(NamedTuple):
    """A recipe in the order of a system; `key` is its sort key."""

    recipe_id: int
    priority: int
    effective_priority: int
    key: tuple[int, ...]


def places_on(partition: Partition, system: System) -> Iterator[RankedRecipe]:
    """Yield the recipes eligible for a system, in the rank order of the system."""
    for rank in ranks_for_system(partition, system):
        recipe = partition.sets.recipes[rank.recipe_id]
        effective = int(effective_priority(partition, recipe, system))
        is_first = partition.sets.line_of(recipe) == system.lab_controller
        key = not is_first, -effective, *rank
        yield RankedRecipe(recipe.recipe_id, -rank.negative_priority, effective, key)


def effective_priority(partition: Partition, recipe: Recipe, system: System) -> Priority:
    """Return the effective priority of a recipe that may be submitted to the system (design 5.2)."""
    rights = partition.labs.access.of(partition.labs.number(system.fqdn))
    nominal = partition.sets.sets[recipe.recipe_set_id].priority
    return Priority(min(nominal, partition.labs.access.cap(rights, partition.sets.demand(recipe).submitter)))


def why_before(partition: Partition, recipe: Recipe, other: Recipe, system: System) -> str:
    """Return why another recipe ranks ahead of this one on a system that both could have."""
    line_of = partition.sets.line_of
    if line_of(other) == system.lab_controller != line_of(recipe):
        return ITS_SET_IS_IN_LAB
    theirs, mine = (effective_priority(partition, each, system) for each in (other, recipe))
    if theirs != mine:
        return f"effective priority {theirs.name} before {mine.name}"
    theirs, mine = (partition.sets.sets[each.recipe_set_id].priority for each in (other, recipe))
    return f"priority {theirs.name} before {mine.name}" if theirs != mine else SUBMITTED_BEFORE


class AheadCounts:
    """Counts of a line, valid until the partition changes. Without a `rank`, all its recipes are ahead.

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
