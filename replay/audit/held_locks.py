"""The locks that started sets hold, indexed by lab, and by level, mode and name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from replay.audit.locks import LEVELS, NO_LOCKS, NOTHING, Locks, Part
from replay.audit.values import Recipe

SetCounts = Counter[int]
"""The number of recipes by set."""


class NameHolders:
    """The sets that hold names at one level in one mode. Mutable."""

    def __init__(self) -> None:
        self._all = SetCounts()
        self._named: defaultdict[str, SetCounts] = defaultdict(SetCounts)

    def count(self, part: Part, set_id: int, change: int) -> None:
        if not isinstance(part, frozenset):
            _add(self._all, set_id, change)
            return
        for name in part:
            _add(self._named[name], set_id, change)
            if not self._named[name]:
                del self._named[name]

    def meeting(self, part: Part) -> Iterator[int]:
        """Yield the sets that hold something of a part."""
        if part == NOTHING:
            return
        yield from self._all
        for name in part if isinstance(part, frozenset) else list(self._named):
            yield from self._named.get(name, ())


class HeldLocks:
    """The sets that have started, and their locks. Mutable."""

    def __init__(self) -> None:
        # By lab: all started sets, and those that hold the whole-lab lock.
        self._started: defaultdict[str | None, SetCounts] = defaultdict(SetCounts)
        self._whole_lab: defaultdict[str | None, SetCounts] = defaultdict(SetCounts)
        # By level: the holders in each mode.
        self._levels = [(NameHolders(), NameHolders()) for _ in LEVELS]

    def replace(self, before: Recipe | None, recipe: Recipe | None) -> None:
        """Replace a recipe. It counts while it has started; a guest holds nothing and never counts."""
        if before is not None and before.has_started and not before.is_guest:
            self._count(before, -1)
        if recipe is not None and recipe.has_started and not recipe.is_guest:
            self._count(recipe, 1)

    def _count(self, recipe: Recipe, change: int) -> None:
        set_id, held = recipe.set_id, recipe.held or NO_LOCKS
        _add(self._started[recipe.lab], set_id, change)
        if held is NO_LOCKS:
            return
        if held.whole_lab:
            _add(self._whole_lab[recipe.lab], set_id, change)
        for modes, lock in zip(self._levels, held.levels, strict=True):
            for holders, part in zip(modes, lock, strict=True):
                holders.count(part, set_id, change)

    def in_the_way(self, locks: Locks, lab: str | None, set_id: int) -> set[int]:
        """Return the other started sets that conflict with these locks of a set in a lab."""
        found = set(self._whole_lab.get(lab, ()))
        if locks.whole_lab:
            found.update(self._started.get(lab, ()))
        for (shared, exclusive), lock in zip(self._levels, locks.levels, strict=True):
            found.update(exclusive.meeting(lock.shared))
            found.update(exclusive.meeting(lock.exclusive))
            found.update(shared.meeting(lock.exclusive))
        return found - {set_id}


def _add(counts: SetCounts, set_id: int, change: int) -> None:
    counts[set_id] += change
    if not counts[set_id]:
        del counts[set_id]
