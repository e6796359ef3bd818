"""Declared resource locks, read from the documents in events, and merged by the rules of the design (5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import orjson

Part = frozenset[str] | Literal["Unknown", "All"]
"""Names, some unknown names, or everything at a level; an empty set is no lock."""

NOTHING: Part = frozenset()

LEVELS = ("pool", "guest", "system", "system_resource", "network")
# Ganeti's names of the levels.
ALIASES = dict(zip(("NodeGroup", "Instance", "Node", "NodeRes", "Network"), LEVELS, strict=True))
MODES = ("Shared", "Exclusive")
EXTENTS = ("Unknown", "All")


class LevelLock(NamedTuple):
    """The two parts of a lock at one level."""

    shared: Part = NOTHING
    exclusive: Part = NOTHING


class Locks(NamedTuple):
    """The locks at the levels, in the order of `LEVELS`, and whether the whole lab is locked."""

    levels: tuple[LevelLock, ...] = (LevelLock(),) * len(LEVELS)
    whole_lab: bool = False


NO_LOCKS = Locks()


class UnreadableLocks(ValueError):
    """A document of locks that the audit cannot read."""


# Reading


def locks_of(document: Mapping[str, Any] | None) -> Locks:
    """Return the locks of a document; raise UnreadableLocks."""
    return _read(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)) if document else NO_LOCKS


def readable(document: Mapping[str, Any] | None) -> Locks:
    """Return the locks of a document; unreadable ones, which an invariant reports, count as none."""
    try:
        return locks_of(document)
    except UnreadableLocks:
        return NO_LOCKS


@lru_cache(10_000)
def _read(text: bytes) -> Locks:
    document = orjson.loads(text)
    whole_lab = document.pop("whole_lab", False)
    levels = dict.fromkeys(LEVELS, LevelLock())
    for name, form in document.items():
        level = ALIASES.get(name, name)
        if level not in levels:
            raise UnreadableLocks(f"unknown level {name!r}")
        levels[level] = reduced(map(_level_lock, form if isinstance(form, list) else [form]))
    locks = Locks(tuple(levels.values()), bool(whole_lab))
    return NO_LOCKS if locks == NO_LOCKS else locks


def _level_lock(form: Any) -> LevelLock:
    kind, names = next(iter(form.items())) if isinstance(form, dict) and len(form) == 1 else (form, None)
    if kind == "None" and names is None:
        return LevelLock()
    for mode in MODES:
        if kind == mode and names:
            return _in_mode(mode, frozenset(names))
        for extent in EXTENTS:
            if kind == extent + mode and names is None:
                return _in_mode(mode, extent)
    raise UnreadableLocks(f"unknown lock {form!r}")


def _in_mode(mode: str, part: Any) -> LevelLock:
    return LevelLock(shared=part) if mode == "Shared" else LevelLock(exclusive=part)


# Merging


def merged(parts: Iterable[Locks]) -> Locks:
    """Return locks that cover the locks of all parts, which are merged at once."""
    every = [locks for locks in parts if locks is not NO_LOCKS]
    if not every:
        return NO_LOCKS
    levels = (reduced(locks.levels[number] for locks in every) for number in range(len(LEVELS)))
    return Locks(tuple(levels), any(locks.whole_lab for locks in every))


def reduced(locks: Iterable[LevelLock]) -> LevelLock:
    """Join the parts of locks at one level, and remove shared names that the exclusive part covers."""
    every = list(locks)
    shared, exclusive = joined(lock.shared for lock in every), joined(lock.exclusive for lock in every)
    if exclusive == "All":
        return LevelLock(NOTHING, exclusive)
    if isinstance(shared, frozenset) and isinstance(exclusive, frozenset):
        shared -= exclusive
    return LevelLock(shared, exclusive)


def joined(parts: Iterable[Part]) -> Part:
    """Return All if any part is All, else Unknown if any part is Unknown, else the names of all parts."""
    names: frozenset[str] = frozenset()
    found: Part | None = None
    for part in parts:
        if isinstance(part, frozenset):
            names |= part
        elif found != "All":
            found = part
    return names if found is None else found


# Holding


def taken(locks: Locks) -> Locks:
    """Return the locks as they are held: everything in its mode in place of unknown names."""
    return _replaced(locks, lambda part: part if isinstance(part, frozenset) else "All")


def covers(old: Locks, new: Locks) -> bool:
    """Return whether a holder of the old locks needs nothing more for the new ones.

    The whole-lab lock covers no names, because a set of another lab may hold these.
    """
    if new.whole_lab and not old.whole_lab:
        return False
    return all(
        _includes([before.exclusive], after.exclusive) and _includes(before, after.shared)
        for before, after in zip(old.levels, new.levels, strict=True)
    )


def _includes(parts: Iterable[Part], part: Part) -> bool:
    every = joined(parts)
    if isinstance(every, frozenset):
        return isinstance(part, frozenset) and part <= every
    return True


def conflict(one: Locks, other: Locks, *, is_same_lab: bool) -> bool:
    """Return whether two sets cannot hold these locks together; the whole-lab lock excludes every set."""
    if is_same_lab and (one.whole_lab or other.whole_lab):
        return True
    return any(
        _meet(mine.exclusive, theirs.exclusive)
        or _meet(mine.exclusive, theirs.shared)
        or _meet(mine.shared, theirs.exclusive)
        for mine, theirs in zip(one.levels, other.levels, strict=True)
    )


def _meet(one: Part, other: Part) -> bool:
    if not one or not other:
        return False
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return not one.isdisjoint(other)
    return True


# Own names

Own = Mapping[str, Part]
"""The part that stands in place of each own name. Events have names in place of `$guests`."""

UNPLACED_OWN: Own = {"$system": "Unknown", "$lab": "Unknown", "$pools": "Unknown"}


def without_own_names(locks: Locks) -> Locks:
    """Return the locks of a recipe without a system: its own names are unknown."""
    return _named(locks, UNPLACED_OWN)


@lru_cache(20_000)
def with_own_names(locks: Locks, system: str, lab: str, pools: tuple[str, ...]) -> Locks:
    """Return the locks of a placed recipe."""
    own: Own = {"$system": frozenset((system,)), "$lab": frozenset((lab,)), "$pools": frozenset(pools)}
    return _named(locks, own)


def _named(locks: Locks, own: Own) -> Locks:
    def named(part: Part) -> Part:
        if not isinstance(part, frozenset):
            return part
        return joined(own.get(name, frozenset((name,))) for name in part)

    return _replaced(locks, named)


def _replaced(locks: Locks, change: Callable[[Part], Part]) -> Locks:
    if locks is NO_LOCKS:
        return NO_LOCKS
    levels = (reduced([LevelLock(change(lock.shared), change(lock.exclusive))]) for lock in locks.levels)
    return Locks(tuple(levels), locks.whole_lab)
