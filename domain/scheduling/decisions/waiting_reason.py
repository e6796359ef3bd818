"""The reason why a new recipe waits, if there is no idle system that it may have."""

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


def waiting_reason(partition: Partition, host: Recipe, free: int) -> str:
    """Return the reason. `free` are the systems that no waiting recipe is about to be asked to take."""
    viable = partition.viable(host)
    if not viable:
        return ALL_LENT
    if not partition.usable(host):
        return _why_none_usable(partition, viable)
    key = partition.sets.key(host)
    idle = partition.available.idle(forced=key.forced is not None)
    closed = partition.filters.fitting(key) & ~partition.entitled(host)
    closed_now = closed & idle & free
    is_visible = bool(closed_now and closed_now & ~partition.visible.hidden_from(host.owner))
    return NO_IDLE_ACCESS if is_visible else NO_IDLE_SYSTEM


def _why_none_usable(partition: Partition, viable: int) -> str:
    sound = viable & ~partition.available.broken
    if not sound:
        return ALL_BROKEN
    return NONE_USABLE if sound & ~partition.in_silent_labs() else ALL_SILENT
