"""Algebra of resource locks: merging, covering, conflicts, and the locks that are really taken.

A lock with unknown names is taken as the lock on everything in its mode. Covering and conflicts compare locks
as they are taken; merging keeps Unknown, because it weighs less than All.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from domain.contention.locks import ALL, LEVELS, NO_LOCKS, UNKNOWN, WHOLE_LAB, LevelLock, Locks, Part

# One decision merges the locks of a recipe several times.
CACHED: Final = 4_096


def merge(*locks: Locks) -> Locks:
    """Return locks that cover all the given ones. Their order and repetition change nothing."""
    # Most recipes declare nothing, and a merge takes time.
    found = [one for one in locks if one != NO_LOCKS]
    return _merged(*found) if found else NO_LOCKS


@lru_cache(CACHED)
def _merged(*found: Locks) -> Locks:
    levels = tuple(map(_merge_level, zip(*(one.levels for one in found), strict=True)))
    return Locks(levels, any(one.whole_lab for one in found))


def _merge_level(locks: tuple[LevelLock, ...]) -> LevelLock:
    return normalised(join(*(lock.shared for lock in locks)), join(*(lock.exclusive for lock in locks)))


def join(*parts: Part) -> Part:
    """Return names joined with names; Unknown absorbs names, and All absorbs both."""
    if ALL in parts:
        return ALL
    if UNKNOWN in parts:
        return UNKNOWN
    return tuple(sorted({name for part in parts for name in part}))


def normalised(shared: Part, exclusive: Part) -> LevelLock:
    """Return the lock without the shared names that the exclusive part covers; Unknown covers none."""
    if exclusive == ALL:
        return LevelLock((), ALL)
    if isinstance(shared, tuple) and isinstance(exclusive, tuple):
        shared = tuple(name for name in shared if name not in exclusive)
    return LevelLock(shared, exclusive)


def held(locks: Locks) -> Locks:
    """Return the locks that are really taken: those on everything in place of unknown ones."""
    return _held(locks) if any(UNKNOWN in lock for lock in locks.levels) else locks


@lru_cache(CACHED)
def _held(locks: Locks) -> Locks:
    levels = (normalised(_taken(lock.shared), _taken(lock.exclusive)) for lock in locks.levels)
    return Locks(tuple(levels), locks.whole_lab)


def _taken(part: Part) -> Part:
    return ALL if part == UNKNOWN else part


def covers(old: Locks, new: Locks) -> bool:
    """Return whether `new` takes nothing beyond `old`, so that a holder of `old` may narrow its locks.

    The whole-lab lock covers only itself: it excludes the other sets of one lab, but the names at the levels
    apply in all labs, so that a set of another lab may hold them.
    """
    if new.whole_lab and not old.whole_lab:
        return False
    return all(_includes(old_part, new_part) for _, _, old_part, new_part in _parts(held(old), held(new)))


def uncovered(old: Locks, new: Locks) -> Iterator[str]:
    """Yield each lock of `new` that `old` does not cover, such as `network vlan-12 (Exclusive)`."""
    if new.whole_lab and not old.whole_lab:
        yield WHOLE_LAB
    for level, mode, old_part, new_part in _parts(held(old), held(new)):
        if not isinstance(old_part, tuple):
            continue
        if isinstance(new_part, tuple):
            yield from (f"{level} {name} ({mode})" for name in new_part if name not in old_part)
        else:
            yield f"{level} ({new_part}{mode})"


def _parts(old: Locks, new: Locks) -> Iterator[tuple[str, str, Part, Part]]:
    """Yield level, mode, the part that an old lock allows there, and the part of the new one."""
    for level, had, wanted in zip(LEVELS, old.levels, new.levels, strict=True):
        yield level, "Shared", join(had.shared, had.exclusive), wanted.shared
        yield level, "Exclusive", had.exclusive, wanted.exclusive


def _includes(old: Part, new: Part) -> bool:
    if not isinstance(old, tuple):
        return True
    return isinstance(new, tuple) and set(new) <= set(old)


def conflicts(one: Locks, other: Locks, same_lab: bool = True) -> bool:
    """Return whether two sets cannot hold these locks at the same time.

    The whole-lab lock conflicts with every start in its lab, also of a set that declares nothing. The other
    locks conflict in all labs.
    """
    if same_lab and (one.whole_lab or other.whole_lab):
        return True
    return any(map(_levels_conflict, one.levels, other.levels))


def _levels_conflict(one: LevelLock, other: LevelLock) -> bool:
    return (
        _meet(one.exclusive, other.exclusive)
        or _meet(one.exclusive, other.shared)
        or _meet(one.shared, other.exclusive)
    )


def _meet(one: Part, other: Part) -> bool:
    """Return whether two parts have something in common; Unknown and All have something of any part."""
    if not one or not other:
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return not set(one).isdisjoint(other)
    return True
