"""New sets by rank, and queues of recipes by lab and representative submitter, in each by need.

Recipes with the same need fit the same systems, so mostly it is enough to check the first. Submitters with
the same representative have the same rights, so the order within a queue is the same on every system.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from replay.audit.requirement_cache import numbers_in
from replay.audit.rights import Submitter
from replay.audit.tables import PRIORITIES, URGENCY
from replay.audit.values import Distro, OwnRequirements, RecipeSet

Rank = tuple[int, ...]
"""Nominal priority (0 is the most urgent), submission, number of the recipe or set."""

# Stands for the lab of recipes of owed sets that are bound to none.
OWED = " owed"

NEWLY_ASSIGNED = -1
"""Stands for the profile of a recipe that was assigned in the present batch: its own set may hold locks."""

AFTER_ALL: Rank = (len(PRIORITIES),)
BEFORE_ALL: Rank = ()


@dataclass(frozen=True, eq=False)
class RecipeNeed:
    """Requirements of a recipe and distros of its guests; equal needs are one object in a world."""

    requirements: OwnRequirements
    guests: tuple[Distro | None, ...]

    @property
    def distros(self) -> tuple[Distro | None, ...]:
        return self.requirements.distro, *self.guests


class QueueEntry(NamedTuple):
    """A recipe in the queues. `lab` is the lab of its set; without one it is `OWED` or None.

    `profile` is the number of the profile of its set; `NEWLY_ASSIGNED` if it was assigned in this batch.
    """

    lab: str | None
    submitter: Submitter
    need: RecipeNeed
    rank: Rank
    profile: int


class SubmitterQueue:
    """The queued or assigned recipes of one representative submitter. Mutable.

    The list of ranks of a need is never replaced, even when empty, so that callers may iterate it while they
    apply tentative changes and roll them back.
    """

    def __init__(self) -> None:
        # The first rank of each need with the number of its requirement, sorted; the needs by requirement;
        # and the bitmap of their requirements.
        self._firsts: list[tuple[Rank, int, RecipeNeed]] = []
        self._needs: defaultdict[int, list[RecipeNeed]] = defaultdict(list)
        self._requirements = 0
        self._ranks: defaultdict[RecipeNeed, list[Rank]] = defaultdict(list)
        # By nominal priority and profile.
        self._by_priority: defaultdict[int, defaultdict[int, list[Rank]]] = defaultdict(_ranks)

    @property
    def first(self) -> Rank | None:
        """Return the rank of the first recipe, None if the queue is empty."""
        return self._firsts[0][0] if self._firsts else None

    def ranks_of(self, need: RecipeNeed) -> list[Rank]:
        """Return the ranks of all recipes with this need, in order."""
        return self._ranks[need]

    def needs(self, among: int, end: Rank) -> list[RecipeNeed]:
        """Return the needs with a requirement in a bitmap whose first recipe ranks before the end."""
        before = bisect_left(self._firsts, (end,))
        if not before:
            return []
        wanted = self._requirements & among
        # Iterate the smaller side: the needs before the end, or the requirements in the bitmap.
        if before <= wanted.bit_count():
            # Reading a digit takes a tenth of the time of shifting a long number.
            digits = f"{wanted:0{self._requirements.bit_length()}b}"
            return [need for _, number, need in self._firsts[:before] if digits[~number] == "1"]
        ranks = self._ranks
        return [need for number in numbers_in(wanted) for need in self._needs[number] if ranks[need][0] < end]

    @property
    def by_priority(self) -> Mapping[int, Mapping[int, list[Rank]]]:
        """Return the ranks, in order, by nominal priority and number of the profile."""
        return self._by_priority

    def add(self, need: RecipeNeed, rank: Rank, profile: int) -> None:
        insort(self._by_priority[rank[0]][profile], rank)
        ranks = self._ranks[need]
        before = ranks[0] if ranks else None
        insort(ranks, rank)
        self._index_first(need, before, ranks[0])

    def drop(self, need: RecipeNeed, rank: Rank, profile: int) -> None:
        alike = self._by_priority[rank[0]][profile]
        del alike[bisect_left(alike, rank)]
        if not alike:
            del self._by_priority[rank[0]][profile]
        ranks = self._ranks[need]
        before = ranks[0]
        del ranks[bisect_left(ranks, rank)]
        self._index_first(need, before, ranks[0] if ranks else None)

    def _index_first(self, need: RecipeNeed, before: Rank | None, first: Rank | None) -> None:
        """Index the new first rank of a need. None stands for no recipe."""
        if first == before:
            return
        if before is not None:
            del self._firsts[bisect_left(self._firsts, (before,))]
        if first is not None:
            insort(self._firsts, (first, need.requirements.number, need))
        if before is None or first is None:
            self._index_need(need, first is not None)

    def _index_need(self, need: RecipeNeed, is_needed: bool) -> None:
        number = need.requirements.number
        needs = self._needs[number]
        if is_needed:
            needs.append(need)
        else:
            needs.remove(need)
        if len(needs) == is_needed:
            # It is the first need with this requirement, or it was the last one.
            self._requirements ^= 1 << number


class Queues:
    """All queues, with the entry of each recipe. Mutable."""

    def __init__(self) -> None:
        self._queues: defaultdict[str | None, defaultdict[Submitter, SubmitterQueue]] = defaultdict(_queues)
        self._entries: dict[int, QueueEntry] = {}

    def __getitem__(self, lab: str | None) -> list[tuple[Submitter, SubmitterQueue]]:
        """Return the queues of recipes bound to a lab, or with None of those bound to no lab."""
        return list(self._queues[lab].items())

    def __iter__(self) -> Iterator[int]:
        return iter(self._entries)

    def put(self, recipe_id: int, entry: QueueEntry | None) -> None:
        """Replace the entry of a recipe. With None, remove it."""
        before = self._entries.pop(recipe_id, None)
        if before is not None:
            self._queues[before.lab][before.submitter].drop(before.need, before.rank, before.profile)
        if entry is not None:
            self._entries[recipe_id] = entry
            self._queues[entry.lab][entry.submitter].add(entry.need, entry.rank, entry.profile)

    def close(self, submitter: Submitter) -> None:
        """Delete the empty queues of a representative. The caller must not be iterating over them."""
        for queues in self._queues.values():
            if submitter in queues and queues[submitter].first is None:
                del queues[submitter]


def _ranks() -> defaultdict[int, list[Rank]]:
    return defaultdict(list)


def _queues() -> defaultdict[Submitter, SubmitterQueue]:
    return defaultdict(SubmitterQueue)


def rank_of(recipe_set: RecipeSet) -> Rank:
    return URGENCY[recipe_set.priority], recipe_set.submission, recipe_set.set_id


class NewSets:
    """The new recipe sets, sorted by rank. Mutable."""

    def __init__(self) -> None:
        self._ranks: dict[int, Rank] = {}
        self._sorted: list[Rank] = []

    def add(self, recipe_set: RecipeSet | None) -> None:
        if recipe_set is not None and recipe_set.set_id not in self._ranks:
            rank = self._ranks[recipe_set.set_id] = rank_of(recipe_set)
            insort(self._sorted, rank)

    def discard(self, set_id: int) -> None:
        rank = self._ranks.pop(set_id, None)
        if rank is not None:
            del self._sorted[bisect_left(self._sorted, rank)]

    def rank(self, recipe_set: RecipeSet | None) -> None:
        """Recompute the rank of a new set after a change of its priority."""
        if recipe_set is not None and recipe_set.set_id in self._ranks:
            self.discard(recipe_set.set_id)
            self.add(recipe_set)

    def before(self, recipe_set: RecipeSet, effective: int, upto: int) -> Iterator[int]:
        """Yield sets submitted up to `upto` that may rank ahead, as effective priority is at most nominal."""
        end = bisect_left(self._sorted, max(rank_of(recipe_set), (effective,)))
        return self._submitted(end, upto)

    def up_to_priority(self, effective: int, upto: int) -> Iterator[int]:
        """Yield sets submitted up to `upto` that may rank ahead by a lower weight."""
        return self._submitted(bisect_left(self._sorted, (effective + 1,)), upto)

    def _submitted(self, end: int, upto: int) -> Iterator[int]:
        return (number for _, submission, number in self._sorted[:end] if submission <= upto)
