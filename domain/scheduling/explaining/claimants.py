"""The order on a system with its claimant, which the system asks before all others (design 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from domain.recipe.state import Recipe
from domain.scheduling.decisions.claiming import claimant_of
from domain.scheduling.decisions.system_order import places_for_system
from domain.scheduling.demand.lines import ranks_as_queued
from domain.scheduling.demand.order import Place
from domain.scheduling.world.partition import Partition
from domain.system.state import System

BEFORE_TIERS: Final = -1
"""The tier of a claimant: before those of all other recipes."""


def asked_first(partition: Partition, system: System) -> Recipe | None:
    """Return the claimant of a system, None without one or while no recipe of its set may be placed."""
    claimant = claimant_of(partition, system.fqdn)
    if claimant is None or partition.sets.places.line_of(claimant) is None:
        return None
    return claimant


def places_with_claimant(partition: Partition, system: System) -> Iterator[tuple[int, Place]]:
    """Yield tier and place of eligible recipes: of the claimant, then of the others in the usual order."""
    claimant = asked_first(partition, system)
    if claimant is None:
        yield from places_for_system(partition, system)
        return
    own = _place(partition, claimant, system)
    yield BEFORE_TIERS, own
    yield from (found for found in places_for_system(partition, system) if found[1].rank != own.rank)


def _place(partition: Partition, host: Recipe, system: System) -> Place:
    sets = partition.sets
    line = sets.places.line_of(host)
    assert line is not None, f"{host.subject} stands in a line"
    return Place(
        negative_effective=-partition.effective_priority(host, system),
        negative_priority=-sets.sets[host.recipe_set_id].priority,
        is_queued=ranks_as_queued(line),
        systems=sets.places.systems(host),
        weight=sets.places.weight(host),
        rank=sets.rank(host),
    )
