"""The events after which waiting sets may get their resource locks."""

from __future__ import annotations

from replay.audit.partition_world import PartitionWorld
from replay.audit.record import EventRecord
from replay.audit.tables import BEFORE_START, FINISHED, SET_PLACED

# Events that change no state of a recipe, and may change which waiting sets may have their locks.
UNBLOCKING = (
    *("recipe.locks-narrowed", "recipe.changed", "recipe-set.priority-changed", "partition.configured"),
    *("pool.system-added", "pool.system-removed"),
)


def may_unblock_sets(world: PartitionWorld, record: EventRecord) -> bool:
    """Return whether an event may let waiting sets have locks: an end, a withdrawal, and the like."""
    if record.topic in UNBLOCKING:
        return _is_own(world, record)
    recipe = world.recipes.get(int(record.name)) if record.kind == "recipe" else None
    is_lost = record.event_name in (*BEFORE_START, *FINISHED)
    return is_lost and recipe is not None and recipe.state in SET_PLACED


def _is_own(world: PartitionWorld, record: EventRecord) -> bool:
    """Return whether an event concerns no other partition alone."""
    if record.kind == "partition":
        return world.partition_number(record.name) == world.partition
    return world.reads(record)
