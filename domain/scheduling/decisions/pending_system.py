"""The decision on a pending system (design section 4.2): grant it to a recipe, or make it idle."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import grant, is_safe
from domain.scheduling.demand.filters import QUEUED
from domain.scheduling.demand.lines import newly_assigned_line
from domain.scheduling.demand.ranked import Rank
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger
from domain.system.events import SystemIdle
from domain.system.state import System


def pending_system(partition: Partition, trigger: Trigger) -> Decision:
    """Return a grant to the first recipe in rank order whose grant is safe; otherwise the system is idle."""
    draft = Draft(partition, trigger)
    _grant_first(draft, trigger.name)
    if not draft:
        draft.add([(f"system/{trigger.name}", SystemIdle())])
    return draft.decision()


def _grant_first(draft: Draft, fqdn: str) -> None:
    partition = draft.partition
    system, number = partition.systems[fqdn], partition.labs.number(fqdn)
    if not partition.available.usable(forced=True) >> number & 1:
        return
    for rank in ranks_for_system(partition, system):
        host = partition.sets.recipes[rank.recipe_id]
        if is_safe(partition, host, number):
            grant(draft, host, system)
            return


def ranks_for_system(partition: Partition, system: System) -> Iterator[Rank]:
    """Yield the ranks of eligible recipes in the order of the system. A change invalidates the iterator."""
    forced_only = is_for_forced_only(partition, system)
    for lines in tiers_of(system.lab_controller):
        places = [
            partition.filters.ranked_recipes(system.fqdn, line, forced_only=forced_only) for line in lines
        ]
        yield from (place.rank for place in heapq.merge(*places))


def is_for_forced_only(partition: Partition, system: System) -> bool:
    return not partition.available.usable(forced=False) >> partition.labs.number(system.fqdn) & 1


def tiers_of(lab_controller: str) -> tuple[tuple[str, ...], ...]:
    """Return the lines that a system of the lab considers, by tier: assigned recipes, then queued ones.

    Recipes that became assigned in the present batch still rank with the queued ones: every trigger of a
    batch is answered in the rank order that the queue had when the batch began.
    """
    return (lab_controller,), (QUEUED, newly_assigned_line(lab_controller))
