"""The order of the new sets of a batch (design sections 4.2 and 5.2).

A system ranks recipes by effective priority, but a new set is answered whole. So a set ranks by the recipe of
it that ranks highest on a free system: by its effective priority there, nominal priority and submission. A
recipe that is alone in its set then takes one of the systems on which it ranks that high: on these, every set
behind it ranks lower. A set without any free system takes nothing from others, and ranks by nominal priority.

Ranks only fall while new sets are answered, because these take systems and free none. Therefore the first set
by the ranks found so far is ranked again, until one keeps its place.
"""

from __future__ import annotations

from typing import NamedTuple

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.demanded_systems import demanded_systems
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import NEW_JOB, Trigger


class Highest(NamedTuple):
    """The highest effective priority of a recipe on some systems, and those on which it has that."""

    effective: int
    systems: int


def next_new_set(partition: Partition) -> Trigger:
    """Return the new set of the batch that ranks first; the batch has one."""
    triggers = partition.triggers
    while True:
        trigger = triggers.first(NEW_JOB)
        recipe_set = partition.sets.sets[int(trigger.name)]
        hosts = partition.sets.hosts(recipe_set.recipe_set_id)
        # All recipes of a set have one owner and one nominal priority.
        if not _is_capped(partition, hosts[0]):
            return trigger
        free = free_systems(partition)
        found = [highest(partition, host, partition.idle(host) & free).effective for host in hosts]
        effective = max(found) or recipe_set.priority
        if not triggers.rank_first((-effective, -recipe_set.priority, recipe_set.submission)):
            return trigger


def free_systems(partition: Partition) -> int:
    """Return the systems that no waiting recipe is about to be asked to take.

    A wanted system that a wake-up is about to ask is as good as pending: the queue comes first.
    """
    asked = union(partition.systems_of_wake_up(subject) for subject in partition.triggers.pending_wake_ups())
    return ~demanded_systems(partition, asked)


def highest(partition: Partition, host: Recipe, systems: int) -> Highest:
    """Return where a recipe has its highest effective priority among systems; 0 and none without any."""
    found: dict[int, int] = {}
    nominal, submitter = (
        partition.sets.sets[host.recipe_set_id].priority,
        partition.sets.demand(host).submitter,
    )
    access = partition.labs.access
    for rights, of_class in access.each():
        if here := systems & of_class:
            effective = min(nominal, access.cap(rights, submitter))
            found[effective] = found.get(effective, 0) | here
    return Highest(*max(found.items())) if found else Highest(0, 0)


def _is_capped(partition: Partition, host: Recipe) -> bool:
    """Return whether the effective priority of a recipe is lower than its nominal one on any system."""
    nominal, submitter = (
        partition.sets.sets[host.recipe_set_id].priority,
        partition.sets.demand(host).submitter,
    )
    return any(0 < cap < nominal for cap in partition.labs.access.caps(submitter))
