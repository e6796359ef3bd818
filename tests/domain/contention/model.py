"""A model of locks: the access that they give to each element of a tiny universe."""

from __future__ import annotations

from itertools import chain, combinations, product
from typing import TypeAlias

from domain.contention.locks import ALL, UNKNOWN, LevelLock, Part

UNIVERSE = ("a", "b", "other")
"""The elements of a level. No lock names `other`, which stands for everything that a lock does not name."""

NO_ACCESS, READ, WRITE = range(3)
Access: TypeAlias = tuple[int, ...]
"""The access to each element of the universe."""

PARTS: tuple[Part, ...] = ((), ("a",), ("b",), ("a", "b"), UNKNOWN, ALL)

DECLARED = [LevelLock(*parts) for parts in product(PARTS, repeat=2)]
"""Every pair of a shared and an exclusive part."""

SEED_KINDS = [lock for lock in DECLARED if not (lock.shared and lock.exclusive)]
"""The seven kinds of the seed, with each set of names."""


def is_normal(lock: LevelLock) -> bool:
    """Return whether nothing in the shared part is covered by the exclusive part."""
    if lock.exclusive == ALL:
        return lock.shared == ()
    both_named = isinstance(lock.shared, tuple) and isinstance(lock.exclusive, tuple)
    return not (both_named and set(lock.shared) & set(lock.exclusive))


NORMAL = [lock for lock in DECLARED if is_normal(lock)]


def taken(*locks: LevelLock) -> Access:
    """Return the access of a holder of the locks, whose unknown names may be any."""
    return tuple(max((_access(lock, element) for lock in locks), default=NO_ACCESS) for element in UNIVERSE)


def _access(lock: LevelLock, element: str) -> int:
    return WRITE if _has(lock.exclusive, element) else READ if _has(lock.shared, element) else NO_ACCESS


def _has(part: Part, element: str) -> bool:
    return element in part if isinstance(part, tuple) else True


def worlds(lock: LevelLock) -> set[Access]:
    """Return every access that the lock may turn out to be: unknown names are one element or more."""
    return {
        taken(LevelLock(shared, exclusive))
        for shared in _possible(lock.shared)
        for exclusive in _possible(lock.exclusive)
    }


def _possible(part: Part) -> list[Part]:
    if part == UNKNOWN:
        return [*chain.from_iterable(combinations(UNIVERSE, size) for size in (1, 2, 3))]
    return [part]


def together(*access: Access) -> Access:
    """Return the stronger access to each element."""
    return tuple(map(max, zip(*access, strict=True)))


def excludes(one: Access, other: Access) -> bool:
    """Return whether two holders cannot have these accesses at the same time."""
    return any(max(pair) == WRITE and min(pair) >= READ for pair in zip(one, other, strict=True))
