"""The order in which a system considers recipes (design 5.2): tiers of lines, merged by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from domain.admission.configuration import ALWAYS
from domain.scheduling.demand.lines import lines_of
from domain.scheduling.demand.order import Place
from domain.scheduling.ranked import Rank
from domain.scheduling.world.partition import Partition
from domain.system.state import System


def ranks_for_system(partition: Partition, system: System) -> Iterator[Rank]:
    """Yield the ranks of eligible recipes in the order of the system. A change invalidates the iterator."""
    return (place.rank for _, place in places_for_system(partition, system))


def places_for_system(
    partition: Partition, system: System, until: Mapping[str, Rank] = {}
) -> Iterator[tuple[int, Place]]:
    """Yield tier and place of eligible recipes in the order of the system. A change ends the validity.

    `until` has the last rank to search in a line: recipes of sets behind it are left out.
    """
    forced_only = partition.is_for_forced_only(system)
    for tier, lines in enumerate(tiers_of(partition, system.lab_controller)):
        for place in partition.filters.ranked_recipes(
            system.fqdn, lines, forced_only=forced_only, until=until
        ):
            yield tier, place


def tiers_of(partition: Partition, lab_controller: str) -> tuple[tuple[str, ...], ...]:
    """Return the lines that a system of the lab considers, by tier; the recipes of a tier rank together."""
    assigned, queued = lines_of(lab_controller, partition.sets.rooms.open)
    if partition.configuration.order.assigned_first == ALWAYS:
        return assigned, queued
    return ((*assigned, *queued),)
