"""Lines of recipes: queued and owed ones, those assigned to a lab or newly assigned to one; with counts.

A class of sets that need room has lines of its own. While the queues of a partition do not stand in one line,
each queue has lines of its own, too, and so has each class.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.demand.heads import First, Heads
from domain.scheduling.demand.weighing import Weighing, WeightClass
from domain.scheduling.ranked import Rank, RankedByPriority

NO_WEIGHTS: Final = Weighing(lambda *_: None)

QUEUED: Final = ""
"""The line of the queued recipes. Assigned recipes are in the line of their lab."""
OWED: Final = " owed"
"""The line of the queued recipes of owed sets (`overtaking.py`), which rank with the assigned ones."""
_NEWLY: Final = " newly"
_ROOM: Final = " room "
_QUEUE: Final = " queue "
# Lines have names for each lab and queue; most are needed again at the next search.
_MAX_NAMES: Final = 65_536

Group = tuple[int, int, int]
"""The numbers of a filter, a submitter and a profile."""


def newly_assigned_line(lab_controller: str) -> str:
    """Return the line of the newly assigned recipes of a lab, which rank with the queued ones."""
    return f"{lab_controller}{_NEWLY}"


@lru_cache(maxsize=_MAX_NAMES)
def room_line(line: str, number: int) -> str:
    """Return the line of the queued or owed recipes whose sets need room, by the number of their class."""
    return f"{line}{_ROOM}{number}" if number else line


def queue_line(line: str, queue: str) -> str:
    """Return the line of the recipes of one queue, whose path may be empty: then those of all queues."""
    return f"{line}{_QUEUE}{queue}" if queue else line


@lru_cache(maxsize=_MAX_NAMES)
def assigned_lines(lab_controller: str, queue: str = "") -> tuple[str, ...]:
    """Return the lines of assigned and owed recipes that a system of a lab considers, of one queue if given.

    The lines of classes are not among them.
    """
    return queue_line(lab_controller, queue), queue_line(OWED, queue)


@lru_cache(maxsize=_MAX_NAMES)
def queued_lines(lab_controller: str, queue: str = "") -> tuple[str, ...]:
    """Return the lines of queued recipes that a system of a lab considers, as `assigned_lines` does.

    Recipes that became assigned in the present batch still rank with the queued ones: every trigger of a
    batch is answered in the rank order that the queue had when the batch began.
    """
    return queue_line(QUEUED, queue), queue_line(newly_assigned_line(lab_controller), queue)


def needs_room(line: str) -> bool:
    """Return whether the line is of a class of sets that need room."""
    return line.startswith((_ROOM, OWED + _ROOM))


def ends_when_empty(line: str) -> bool:
    """Return whether an empty line is dropped: there may be any number of classes and queues in time."""
    return needs_room(line) or _QUEUE in line


def ranks_as_queued(line: str) -> bool:
    base = line.partition(_QUEUE)[0]
    return base == QUEUED or base.endswith(_NEWLY) or base.startswith(_ROOM)


def is_in_no_lab(line: str) -> bool:
    """Return whether the recipes of a line are bound to no lab: names of labs do not begin with a blank."""
    return line == QUEUED or line.startswith(" ")


class Line:
    """The recipes of a line, in groups of one filter, submitter and profile. Mutable.

    The order within a group depends on nothing but the recipes, so only the first recipes of groups (`heads`)
    are compared. `weighing` has the static weight of each profile; groups of profiles that weigh the same
    have one `Heads`. When the weight of a profile changes, its groups are moved before the next search.
    `filters` is the bitmap of the filters with recipes. `is_queued` is False for assigned and owed recipes,
    which rank before queued ones of equal priorities.

    After `invalidate_heads` the heads are formed at the next search, so that many recipes can be moved at
    once.
    """

    def __init__(self, is_queued: bool, weighing: Weighing = NO_WEIGHTS) -> None:
        self.is_queued = is_queued
        self.filters = 0
        self._heads: dict[WeightClass, Heads] | None = {}
        # The former weight class of each profile whose class has changed since the last search.
        self._moving: dict[int, WeightClass] = {}
        self._weighing = weighing
        self._groups: dict[int, dict[tuple[int, int], RankedByPriority]] = {}
        # The first recipes of groups by profile, and the group of each.
        self._of_profile: dict[int, dict[Group, First]] = {}
        self._group_of_head: dict[Rank, RankedByPriority] = {}
        self._recipe_counts: RecipeCounts | None = None

    def add(self, group: Group, *ranks: Rank) -> None:
        number, submitter, profile = group
        of_filter = self._groups.setdefault(number, {})
        ranked = of_filter.get((submitter, profile))
        before = None if ranked is None else ranked.first()
        if ranked is None:
            ranked = of_filter[submitter, profile] = RankedByPriority(ranks)
        else:
            for rank in ranks:
                ranked.add(rank)
        self.filters |= 1 << number
        self._change_head(group, ranked, before)
        if self._recipe_counts is not None:
            self._recipe_counts.add(group, ranks)

    def discard(self, group: Group, *ranks: Rank) -> None:
        number, submitter, profile = group
        of_filter = self._groups[number]
        ranked = of_filter[submitter, profile]
        before = ranked.first()
        for rank in ranks:
            ranked.discard(rank)
        self._change_head(group, ranked, before)
        if self._recipe_counts is not None:
            self._recipe_counts.discard(group, ranks)
        if len(ranked):
            return
        del of_filter[submitter, profile]
        if not of_filter:
            del self._groups[number]
            self.filters &= ~(1 << number)

    def put(self, group: Group, ranked: RankedByPriority) -> None:
        """Add a whole group, or its recipes to the equal group. The caller has invalidated the heads."""
        number, submitter, profile = group
        of_filter = self._groups.get(number)
        if of_filter is None:
            of_filter = self._groups[number] = {}
            self.filters |= 1 << number
        there = of_filter.setdefault((submitter, profile), ranked)
        if there is not ranked:
            there.update(ranked.unordered())

    def replace(self, group: Group, ranked: RankedByPriority | None) -> None:
        """Replace a group by the rest of its recipes, None for none. The caller has invalidated the heads."""
        number, submitter, profile = group
        of_filter = self._groups[number]
        if ranked is not None:
            of_filter[submitter, profile] = ranked
            return
        del of_filter[submitter, profile]
        if not of_filter:
            del self._groups[number]
            self.filters ^= 1 << number

    def reweigh(self, profile: int, before: WeightClass) -> None:
        """Note that the groups of a profile, whose weight class was `before`, are to be moved."""
        if profile in self._of_profile:
            self._moving.setdefault(profile, before)

    @property
    def heads(self) -> Mapping[WeightClass, Heads]:
        """The first recipes of groups by weight class."""
        if self._heads is None:
            self._heads = self._formed_heads()
        for profile, before in self._moving.items():
            after = self._weighing.classes[profile]
            if after != before:
                self._move(self._heads, profile, before, after)
        self._moving.clear()
        return self._heads

    def _formed_heads(self) -> dict[WeightClass, Heads]:
        of_class: dict[WeightClass, list[First]] = {}
        for number, groups in self._groups.items():
            for (submitter, profile), ranked in groups.items():
                head = ranked.first()
                assert head is not None, "a group has recipes"
                self._group_of_head[head] = ranked
                first = First(head, number, submitter)
                self._of_profile.setdefault(profile, {})[number, submitter, profile] = first
                of_class.setdefault(self._weighing.classes[profile], []).append(first)
        return {weight_class: Heads(firsts) for weight_class, firsts in of_class.items()}

    def invalidate_heads(self) -> None:
        """Discard heads and counts before recipes are moved; the next search forms them again."""
        self._heads = None
        self._recipe_counts = None
        self._moving.clear()
        self._of_profile.clear()
        self._group_of_head.clear()

    def _move(
        self, heads: dict[WeightClass, Heads], profile: int, before: WeightClass, after: WeightClass
    ) -> None:
        moved = self._of_profile[profile].values()
        if after not in heads and heads[before].count == len(moved):
            # In a fair leaf most jobs are alone with their number of systems.
            heads[after] = heads.pop(before)
            return
        heads[before].remove_all(moved)
        heads.setdefault(after, Heads()).add_all(moved)
        if not heads[before].filters:
            del heads[before]

    def _change_head(self, group: Group, ranked: RankedByPriority, before: Rank | None) -> None:
        after = ranked.first()
        if self._heads is None or after == before:
            return
        number, submitter, profile = group
        weight_class = self._moving[profile] if profile in self._moving else self._weighing.classes[profile]
        if after is not None:
            self._group_of_head[after] = ranked
            self._of_profile.setdefault(profile, {})[group] = First(after, number, submitter)
        else:
            self._forget_head(group)
        if before is not None:
            del self._group_of_head[before]
        heads = self._heads.get(weight_class)
        if heads is None:
            heads = self._heads[weight_class] = Heads()
        heads.replace(number, submitter, before, after)
        if not heads.filters:
            del self._heads[weight_class]

    def _forget_head(self, group: Group) -> None:
        profile = group[2]
        del self._of_profile[profile][group]
        if not self._of_profile[profile]:
            del self._of_profile[profile]
            self._moving.pop(profile, None)

    def group_of(self, head: Rank) -> Iterator[Rank]:
        """Yield the recipes of the group whose first recipe is `head`, in rank order."""
        return iter(self._group_of_head[head])

    def groups(self) -> Mapping[int, Mapping[tuple[int, int], RankedByPriority]]:
        """Return the groups by filter, then by submitter and profile."""
        return self._groups

    def recipes(self, number: int) -> Iterator[Rank]:
        """Yield the recipes of a filter, in no order."""
        for ranked in self._groups.get(number, {}).values():
            yield from ranked.unordered()

    def by_submitter(self, number: int) -> Mapping[int, list[RankedByPriority]]:
        """Return the groups of a filter by submitter."""
        groups: dict[int, list[RankedByPriority]] = {}
        for (submitter, _), ranked in self._groups.get(number, {}).items():
            groups.setdefault(submitter, []).append(ranked)
        return groups

    def recipe_counts(self) -> RecipeCounts:
        """Return the counts of recipes, computed at the first call. Only explanations need them."""
        if self._recipe_counts is None:
            self._recipe_counts = RecipeCounts()
            for number, groups in self._groups.items():
                for (submitter, profile), ranked in groups.items():
                    self._recipe_counts.add((number, submitter, profile), sorted(ranked.unordered()))
        return self._recipe_counts


class RecipeCounts:
    """Counts by submitter number and filter number. Mutable."""

    def __init__(self) -> None:
        # The number of recipes of each filter, by submitter and nominal priority.
        self._counts: dict[int, dict[int, BitSlicedNumbers]] = {}
        # The sorted recipes of each group, by nominal priority.
        self._recipes: dict[int, dict[Group, list[Rank]]] = {}

    def add(self, group: Group, ranks: Iterable[Rank]) -> None:
        number, submitter, _ = group
        by_priority = self._counts.setdefault(submitter, {})
        for rank in ranks:
            by_priority.setdefault(-rank.negative_priority, BitSlicedNumbers()).add(1 << number, 1)
            insort(self._recipes.setdefault(-rank.negative_priority, {}).setdefault(group, []), rank)

    def discard(self, group: Group, ranks: Iterable[Rank]) -> None:
        number, submitter, _ = group
        for rank in ranks:
            self._counts[submitter][-rank.negative_priority].subtract(1 << number, 1)
            groups = self._recipes[-rank.negative_priority]
            recipes = groups[group]
            del recipes[bisect_left(recipes, rank)]
            if not recipes:
                del groups[group]

    def of(self, submitter: int) -> Mapping[int, BitSlicedNumbers]:
        """Return the numbers of recipes of a submitter: by nominal priority, then by filter."""
        return self._counts.get(submitter, {})

    def before(self, nominal: int, is_before: Callable[[Rank, int], bool]) -> dict[int, BitSlicedNumbers]:
        """Return the numbers of recipes of a nominal priority, by submitter and filter, that are before.

        `is_before` is called with the rank and the profile of a recipe. Within a group a later recipe never
        weighs less than an earlier one, so the recipes that are before are the first ones.
        """
        by_submitter: dict[int, dict[int, int]] = {}
        for (number, submitter, profile), recipes in self._recipes.get(nominal, {}).items():
            if count := _count_before(recipes, profile, is_before):
                by_filter = by_submitter.setdefault(submitter, {})
                by_filter[number] = by_filter.get(number, 0) + count
        return {submitter: BitSlicedNumbers(by_filter) for submitter, by_filter in by_submitter.items()}


def _count_before(recipes: Sequence[Rank], profile: int, is_before: Callable[[Rank, int], bool]) -> int:
    """Return the number of recipes of a group that are before; they are the first ones."""
    return bisect_left(recipes, True, key=lambda rank: not is_before(rank, profile))
