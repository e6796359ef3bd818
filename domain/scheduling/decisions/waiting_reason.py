"""The reason why a new recipe without an idle system waits."""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.scheduling.supply.reasons import (
    ALL_BROKEN,
    ALL_LENT,
    ALL_SILENT,
    NO_IDLE_ACCESS,
    NO_IDLE_SYSTEM,
    NONE_USABLE,
)
from domain.scheduling.world.partition import Partition


def waiting_reason(partition: Partition, host: Recipe, unclaimed: int) -> str:
    """Return the reason why no system of `unclaimed` is idle for a new recipe."""
    viable = partition.viable(host)
    if not viable:
        return ALL_LENT
    if not partition.usable(host):
        return _why_none_usable(partition, viable)
    key = partition.sets.key(host)
    idle = partition.available.idle(forced=key.forced is not None)
    inaccessible = partition.filters.fitting(key) & ~partition.entitled(host) & idle & unclaimed
    is_visible = bool(inaccessible and inaccessible & ~partition.visible.hidden_from(host.owner))
    return NO_IDLE_ACCESS if is_visible else NO_IDLE_SYSTEM


def _why_none_usable(partition: Partition, viable: int) -> str:
    not_broken = viable & ~partition.available.broken
    if not not_broken:
        return ALL_BROKEN
    return NONE_USABLE if not_broken & ~partition.in_silent_labs() else ALL_SILENT
