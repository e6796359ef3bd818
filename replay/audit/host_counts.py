"""Counts of the hosts of a partition: those that wait, and the systems of others by lab, queue and job."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TypeVar

from replay.audit.queue_order import Use
from replay.audit.queue_tree import paths_upward
from replay.audit.queues import Rank
from replay.audit.tables import DEFAULT_PARTITION, PLACED, UNPLACED, URGENCY
from replay.audit.tentative_world import TentativeWorld
from replay.audit.values import Recipe

K = TypeVar("K")


class HostCounts(TentativeWorld):
    """A partition's world with counts of hosts, which a subclass updates by `_count_hosts`. Mutable."""

    def __init__(self, partition: int = DEFAULT_PARTITION) -> None:
        super().__init__(partition)
        # By lab: the sets with scheduled hosts, and the systems of these hosts.
        self.holding: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.held: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
        # The systems that placed recipes hold, by queue and by job.
        self.held_in = Counter[str]()
        self.systems_of_job = Counter[int]()
        # The hosts without a system by set.
        self._unplaced = Counter[int]()

    def _count_hosts(self, before: Recipe | None, recipe: Recipe | None, *, placed: int) -> None:
        """Count a recipe in place of its former state, and `placed` more hosts that have a system."""
        moved = recipe or before
        self._count_held(moved, placed)
        unplaced = _is_unplaced(recipe) - _is_unplaced(before)
        if moved is not None and unplaced:
            _add(self._unplaced, moved.set_id, unplaced)
        if before is not None and before.state == "scheduled":
            self._count_scheduled(before, -1)
        if recipe is not None and recipe.state == "scheduled":
            self._count_scheduled(recipe, 1)

    def _count_held(self, recipe: Recipe | None, change: int) -> None:
        """Count a system for the queues and the job of a recipe, or stop counting it."""
        if recipe is not None and change:
            for path in paths_upward(self.queue_of(recipe.set_id)):
                _add(self.held_in, path, change)
            _add(self.systems_of_job, self.sets[recipe.set_id].job_id, change)

    def _count_scheduled(self, recipe: Recipe, change: int) -> None:
        if recipe.host_id is None and recipe.lab is not None:
            _add(self.holding[recipe.lab], recipe.set_id, change)
            _add(self.held[recipe.lab], recipe.system, change)

    def use_of_queues(self) -> Use:
        """Return what queues use, and their first sets: by nominal priority, then by submission."""
        first_sets: dict[str, Rank] = {}
        for number in self._unplaced:
            place = URGENCY[self.sets[number].priority], self.sets[number].submission
            for path in paths_upward(self.queue_of(number)):
                first_sets[path] = min(place, first_sets.get(path, place))
        return Use(self.held_in, first_sets)


def is_placed(recipe: Recipe | None) -> bool:
    return recipe is not None and recipe.state in PLACED and recipe.host_id is None


def _is_unplaced(recipe: Recipe | None) -> bool:
    return recipe is not None and recipe.state in UNPLACED and recipe.host_id is None


def _add(counter: Counter[K], key: K, change: int) -> None:
    counter[key] += change
    if not counter[key]:
        del counter[key]
