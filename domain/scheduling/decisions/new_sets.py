"""The order of the new sets of a batch (design sections 4.2 and 5.2).

A system ranks recipes by effective priority, but a new set is answered as a whole. So a set ranks by the
highest effective priority that one of its recipes has on an undemanded idle system, then by nominal priority
and submission. A single-recipe set then takes a system on which it has this priority. A set without such a
system takes nothing from others, and ranks by nominal priority. Of sets in different queues, the one is first
whose turn it is.

Ranks only fall while new sets are answered, because new sets take systems and free none. So an earlier rank
is an upper bound: the first set is ranked again, until one remains the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from domain.queues.order import Keyed, QueueKey
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.demanded_systems import demanded_systems
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import NEW_JOB, Trigger


class Highest(NamedTuple):
    """The highest effective priority of a recipe on some systems, and the systems on which it has that."""

    effective: int
    systems: int


def next_new_set(partition: Partition) -> Trigger:
    """Return the new set of the batch that ranks first; the batch must have a new set."""
    queues = partition.triggers.queues_of(NEW_JOB)
    return next(partition.sets.turns.ordered_among(queues, partial(_first_in, partition)))[1]


def _first_in(partition: Partition, queue: str) -> Iterator[Keyed[Trigger]]:
    """Yield the new set of the batch that ranks first in a queue, if there is one."""
    triggers, is_one_line = partition.triggers, partition.sets.turns.is_one_line
    while (trigger := triggers.first_in(NEW_JOB, queue)) is not None:
        recipe_set = partition.sets.sets[int(trigger.name)]
        hosts = partition.sets.hosts(recipe_set.recipe_set_id)
        # One host stands for all, because a set has one submitter and one nominal priority.
        is_capped = _is_capped(partition, hosts[0])
        if is_one_line and not is_capped and partition.filters.weighing.is_flat:
            # The set keeps its first rank, and there is no other queue to compare it with.
            yield (), trigger
            return
        rank = _rank(partition, recipe_set, hosts, is_capped=is_capped)
        if not triggers.rank_first(queue, rank):
            yield rank.key_among_queues(), trigger
            return


class _Rank(NamedTuple):
    """The rank of a new set: both priorities, highest first, what its job has in a fair leaf, weight, age."""

    negative_effective: int
    negative_priority: int
    systems: int
    weight: int
    submission: int

    def key_among_queues(self) -> QueueKey:
        """Return the sort key among sets of other queues; only a leaf compares jobs."""
        return *self[:2], *self[3:]


def _rank(partition: Partition, recipe_set: RecipeSet, hosts: Sequence[Recipe], *, is_capped: bool) -> _Rank:
    effective = int(recipe_set.priority)
    if is_capped:
        undemanded = undemanded_systems(partition)
        priorities = [highest(partition, host, partition.idle(host) & undemanded).effective for host in hosts]
        effective = max(priorities) or effective
    weight, systems = partition.sets.places.weight_of_new(recipe_set), partition.sets.places.systems(hosts[0])
    return _Rank(-effective, -recipe_set.priority, systems, weight, recipe_set.submission)


def undemanded_systems(partition: Partition) -> int:
    """Return all systems but idle ones that recipes in the queue may get by unanswered wake-ups first."""
    systems = union(map(partition.systems_of_wake_up, partition.triggers.pending_wake_ups()))
    return ~demanded_systems(partition, systems)


def highest(partition: Partition, host: Recipe, systems: int) -> Highest:
    """Return the highest effective priority of a recipe on `systems`; 0 without any open to the recipe."""
    by_priority: dict[int, int] = {}
    nominal, submitter = (
        partition.sets.sets[host.recipe_set_id].priority,
        partition.sets.index.demand(host).submitter,
    )
    access = partition.labs.access
    for rights, of_class in access.each():
        if own := systems & of_class:
            effective = min(nominal, access.cap(rights, submitter))
            by_priority[effective] = by_priority.get(effective, 0) | own
    return Highest(*max(by_priority.items())) if by_priority else Highest(0, 0)


def _is_capped(partition: Partition, host: Recipe) -> bool:
    """Return whether a recipe has a lower effective than nominal priority on some system open to it."""
    nominal, submitter = (
        partition.sets.sets[host.recipe_set_id].priority,
        partition.sets.index.demand(host).submitter,
    )
    return any(0 < cap < nominal for cap in partition.labs.access.caps(submitter))
