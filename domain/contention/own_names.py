"""Own names in declared locks: `$system`, `$lab`, `$pools` and `$guests` of the recipe that declares them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from domain.contention.algebra import CACHED, join, normalised
from domain.contention.locks import NO_LOCKS, UNKNOWN, LevelLock, Locks, Part

SYSTEM: Final = "$system"
LAB: Final = "$lab"
POOLS: Final = "$pools"
GUESTS: Final = "$guests"
OWN_NAMES: Final = frozenset({SYSTEM, LAB, POOLS, GUESTS})


class OwnNames(NamedTuple):
    """Names of a placed recipe; `guests` is Unknown if a guest has no name."""

    system: str
    lab: str
    pools: Part = ()
    guests: Part = ()


def unplaced(locks: Locks, guests: Part = ()) -> Locks:
    """Return the locks of a recipe without a system: its guests are named, its other own names unknown."""
    return with_names(locks, {SYSTEM: UNKNOWN, LAB: UNKNOWN, POOLS: UNKNOWN, GUESTS: guests})


@lru_cache(CACHED)
def placed(locks: Locks, own: OwnNames) -> Locks:
    """Return the locks of a recipe with a system: real names in place of its own names."""
    return with_names(locks, {SYSTEM: (own.system,), LAB: (own.lab,), POOLS: own.pools, GUESTS: own.guests})


def with_guests(locks: Locks, guests: Part) -> Locks:
    """Return the locks with the names of the guests, and the other own names as declared."""
    return with_names(locks, {GUESTS: guests})


def with_names(locks: Locks, parts: Mapping[str, Part]) -> Locks:
    """Return the locks with a part in place of each name that `parts` has."""
    if locks == NO_LOCKS:
        return NO_LOCKS
    return Locks(tuple([_with_names(lock, parts) for lock in locks.levels]), locks.whole_lab)


def _with_names(lock: LevelLock, parts: Mapping[str, Part]) -> LevelLock:
    shared, exclusive = _replaced(lock.shared, parts), _replaced(lock.exclusive, parts)
    return lock if shared is lock.shared and exclusive is lock.exclusive else normalised(shared, exclusive)


def _replaced(part: Part, parts: Mapping[str, Part]) -> Part:
    if not isinstance(part, tuple) or parts.keys().isdisjoint(part):
        return part
    return join(*(parts.get(name, (name,)) for name in part))
