"""An index of resource locks by level and name: which recipe sets conflict with given locks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from domain.contention.locks import ALL, LEVELS, NO_LOCKS, LevelLock, Locks, Part

Owners: TypeAlias = dict[int, int]
"""How often each set owns a lock. The order of the sets follows from the log."""

NOBODY: Owners = {}


class LockIndex:
    """The locks of recipe sets, with real names and without unknown parts. Mutable.

    A set may own locks several times, once for each of its recipes. Each addition also counts for the lab,
    because a whole-lab lock conflicts with every set there. A question takes time for the names that it asks
    for and for the sets that it finds.
    """

    def __init__(self) -> None:
        self._levels = [_Level() for _ in LEVELS]
        self._in_lab: dict[str, Owners] = {}
        self._whole_lab: dict[str, Owners] = {}

    def add(self, owner: int, lab: str, locks: Locks) -> None:
        self._change(owner, lab, locks, 1)

    def remove(self, owner: int, lab: str, locks: Locks) -> None:
        self._change(owner, lab, locks, -1)

    def _change(self, owner: int, lab: str, locks: Locks, step: int) -> None:
        _count(self._in_lab, lab, owner, step)
        if locks == NO_LOCKS:
            return
        if locks.whole_lab:
            _count(self._whole_lab, lab, owner, step)
        for level, lock in zip(self._levels, locks.levels, strict=True):
            if any(lock):
                level.change(owner, lock, step)

    @property
    def has_whole_lab(self) -> bool:
        """Return whether a set owns a whole-lab lock, the only one that conflicts with all sets."""
        return bool(self._whole_lab)

    def conflicting(self, owner: int, lab: str, locks: Locks) -> Iterator[int]:
        """Yield the other sets whose locks conflict with the given ones; a set may occur several times."""
        if not self._in_lab:
            return
        found = self._in_lab if locks.whole_lab else self._whole_lab
        yield from (other for other in found.get(lab, NOBODY) if other != owner)
        if locks != NO_LOCKS:
            for level, lock in zip(self._levels, locks.levels, strict=True):
                yield from (other for other in level.conflicting(lock) if other != owner)


class _Level:
    """The owners of the locks of one level, by part. Mutable."""

    def __init__(self) -> None:
        self.shared = _Owned()
        self.exclusive = _Owned()

    def change(self, owner: int, lock: LevelLock, step: int) -> None:
        self.shared.change(owner, lock.shared, step)
        self.exclusive.change(owner, lock.exclusive, step)

    def conflicting(self, lock: LevelLock) -> Iterator[int]:
        yield from self.exclusive.meeting(lock.shared)
        yield from self.exclusive.meeting(lock.exclusive)
        yield from self.shared.meeting(lock.exclusive)


class _Owned:
    """The owners of names, of everything, and of any part at all. Mutable."""

    def __init__(self) -> None:
        self._names: dict[str, Owners] = {}
        self._all: Owners = {}
        self._any: Owners = {}

    def change(self, owner: int, part: Part, step: int) -> None:
        if not part:
            return
        _add(self._any, owner, step)
        if isinstance(part, tuple):
            for name in part:
                _count(self._names, name, owner, step)
        else:
            assert part == ALL, "unknown names are taken as everything"
            _add(self._all, owner, step)

    def meeting(self, part: Part) -> Iterator[int]:
        """Yield the owners that have something in common with a part."""
        if isinstance(part, tuple):
            for name in part:
                yield from self._names.get(name, NOBODY)
            if part:
                yield from self._all
        else:
            yield from self._any


def _count(owners: dict[str, Owners], key: str, owner: int, step: int) -> None:
    counts = owners.setdefault(key, {})
    _add(counts, owner, step)
    if not counts:
        del owners[key]


def _add(counts: Owners, owner: int, step: int) -> None:
    count = counts.get(owner, 0) + step
    if count:
        counts[owner] = count
    else:
        del counts[owner]
