"""Resource locks that recipes declare and hold: five levels, each with a shared and an exclusive part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

LEVELS: Final = ("pool", "guest", "system", "system_resource", "network")
"""The levels in the order in which locks are taken and shown."""

ALIASES: Final = {
    "NodeGroup": "pool",
    "Instance": "guest",
    "Node": "system",
    "NodeRes": "system_resource",
    "Network": "network",
}
"""Ganeti's names of the levels."""

WHOLE_LAB: Final = "whole_lab"

UNKNOWN: Final = "Unknown"
ALL: Final = "All"

Names: TypeAlias = tuple[str, ...]
"""Names sorted and without duplicates; a tuple, because a set has no order that two processes agree on."""

Part: TypeAlias = Names | Literal["Unknown", "All"]
"""Names, some unknown names, or everything at the level; without names, nothing."""


class LevelLock(NamedTuple):
    """A lock at one level. `normalised` in `algebra` removes shared names that the exclusive part covers."""

    shared: Part = ()
    exclusive: Part = ()


NO_LOCK: Final = LevelLock()
ALL_EXCLUSIVE: Final = LevelLock(exclusive=ALL)


class Locks(NamedTuple):
    """Locks of a recipe, or the merged locks of a set (its profile): one lock for each level.

    `whole_lab` is the lock on the recipe's lab. Locks at the levels stand beside it, because their names may
    belong to other labs, too.
    """

    levels: tuple[LevelLock, ...] = (NO_LOCK,) * len(LEVELS)
    whole_lab: bool = False


NO_LOCKS: Final = Locks()


def names(*given: str) -> Names:
    """Return the names as a part."""
    return tuple(sorted(set(given)))


def names_in(locks: Locks) -> Iterator[str]:
    """Yield the names at all levels."""
    if locks == NO_LOCKS:
        return
    for part in (part for lock in locks.levels for part in lock):
        if isinstance(part, tuple):
            yield from part
