"""The locks with which placed recipes count in weights (design 5.3), by level, kind and name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from replay.audit.cells import KINDS, TABLE, kinds_of
from replay.audit.locks import LEVELS, NO_LOCKS, LevelLock, Locks, Part

ALL_EXCLUSIVE = LevelLock(exclusive="All")


class KindCounts:
    """The number of locks of each kind at one level, and how often each name occurs in a kind. Mutable."""

    def __init__(self) -> None:
        self.kinds = Counter[str]()
        self.names = Counter[tuple[str, str]]()

    def count(self, lock: LevelLock, change: int) -> tuple[bool, list[str]]:
        """Count a lock; return whether a kind appears or disappears, and the names that do so in a kind."""
        kinds_change, changed_names = False, list[str]()
        for kind, part in kinds_of(lock):
            self.kinds[kind] += change
            kinds_change |= _appears_or_disappears(self.kinds[kind], change)
            for name in part if isinstance(part, frozenset) else ():
                self.names[kind, name] += change
                if _appears_or_disappears(self.names[kind, name], change):
                    changed_names.append(name)
                if not self.names[kind, name]:
                    del self.names[kind, name]
        return kinds_change, changed_names


class CellsCache:
    """A cache of the cells of waiting locks at one level. Mutable."""

    def __init__(self) -> None:
        self._of: dict[LevelLock, frozenset[str]] = {}
        self._with_name = defaultdict[str, set[LevelLock]](set)

    def get(self, lock: LevelLock) -> frozenset[str] | None:
        return self._of.get(lock)

    def put(self, lock: LevelLock, cells: frozenset[str]) -> None:
        self._of[lock] = cells
        for _, part in kinds_of(lock):
            for name in part if isinstance(part, frozenset) else ():
                self._with_name[name].add(lock)

    def drop(self, names: Iterable[str]) -> set[LevelLock]:
        """Drop and return the cached locks that have one of these names."""
        locks = {lock for name in names for lock in self._with_name.pop(name, ())}
        return {lock for lock in locks if self._of.pop(lock, None) is not None}


class PlacedLocks:
    """The locks of placed recipes. Recipes without locks are only counted. Mutable.

    `version` rises when all cells of a level may have changed, because a kind appears or disappears there.
    `changed` has the locks with cached cells that may have changed otherwise; `Profiles` clears it.
    """

    def __init__(self, every: Iterable[Locks] = ()) -> None:
        self._recipes: dict[int, tuple[int, Locks]] = {}
        self._of_sets: defaultdict[int, dict[int, Locks]] = defaultdict(dict)
        self.version = 0
        self.changed: set[LevelLock] = set()
        self._without = 0
        self._levels = [KindCounts() for _ in LEVELS]
        # By level: the cells beside all these recipes.
        self._cells = [CellsCache() for _ in LEVELS]
        for locks in every:
            self._count(locks, 1)

    def put(self, recipe_id: int, set_id: int, locks: Locks | None) -> None:
        """Replace the locks of a placed recipe; None if it is not placed."""
        before = self._recipes.pop(recipe_id, None)
        if before is not None:
            self._count(before[1], -1)
            del self._of_sets[before[0]][recipe_id]
            if not self._of_sets[before[0]]:
                del self._of_sets[before[0]]
        if locks is not None:
            self._recipes[recipe_id] = set_id, locks
            self._of_sets[set_id][recipe_id] = locks
            self._count(locks, 1)

    def of_set(self, set_id: int) -> PlacedLocks | None:
        """Return the locks of the placed recipes of a set, None if it has none."""
        own = self._of_sets.get(set_id)
        return None if own is None else PlacedLocks(own.values())

    def _count(self, locks: Locks, change: int) -> None:
        if locks == NO_LOCKS:
            self._without += change
            if _appears_or_disappears(self._without, change):
                self.version += 1
                self._cells = [CellsCache() for _ in LEVELS]
            return
        for level, (counts, lock) in enumerate(zip(self._levels, locks.levels, strict=True)):
            kinds_change, names = counts.count(ALL_EXCLUSIVE if locks.whole_lab else lock, change)
            if kinds_change:
                self.version += 1
                self._cells[level] = CellsCache()
            else:
                self.changed |= self._cells[level].drop(names)

    def cells(self, level: int, waiting: LevelLock, own: PlacedLocks | None = None) -> frozenset[str]:
        """Return the cells of a lock at a level, beside all these recipes without those in `own`.

        Beside each kind the worst cell counts. A name in common gives the worst one of all.
        """
        if own is not None:
            return frozenset(self._found(level, waiting, own))
        cells = self._cells[level].get(waiting)
        if cells is None:
            cells = frozenset(self._found(level, waiting, NOTHING_PLACED))
            self._cells[level].put(waiting, cells)
        return cells

    def _found(self, level: int, waiting: LevelLock, own: PlacedLocks) -> Iterable[str]:
        for kind, part in kinds_of(waiting):
            yield from self._beside_each_kind(level, kind, part, own)

    def _beside_each_kind(self, level: int, row: str, part: Part, own: PlacedLocks) -> Iterable[str]:
        """Yield the name of the worst cell beside each kind of a placed lock."""
        for column, cell in zip(KINDS, TABLE[row], strict=True):
            if self._number(level, column) == own._number(level, column):
                continue
            if isinstance(cell, str):
                yield cell
            else:
                yield cell[0] if self._has_common(level, column, part, own) else cell[1]

    def _number(self, level: int, kind: str) -> int:
        return self._levels[level].kinds[kind] + (self._without if kind == "None" else 0)

    def _has_common(self, level: int, kind: str, part: Part, own: PlacedLocks) -> bool:
        names, own_names = self._levels[level].names, own._levels[level].names
        return any(names[kind, name] > own_names[kind, name] for name in part)


NOTHING_PLACED = PlacedLocks()


def _appears_or_disappears(after: int, change: int) -> bool:
    """Return whether a count was 0 before a change, or is 0 after it."""
    return not after or after == change
