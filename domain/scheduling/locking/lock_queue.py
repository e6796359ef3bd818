"""The sets that wait for their resource locks, in the order in which they are asked (design 5.3).

A waiting set has all its systems and gets all its locks at once, so sets cannot block each other for ever.
The order is by nominal priority and submission. A set gets its locks if these conflict with no locks that
another set holds, with none that are owed to a set before it, and with none that a set before it could have
now.

A set is overtaken when a set behind it gets locks that conflict with those it wants. At `max_overtaken` times
it is owed all that it wants.

Each waiting set that cannot have its locks has one blocker: a set that holds such locks, or that stands
before it. A waiting set is examined again only when its blocker changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from domain.contention.algebra import conflicts
from domain.contention.locks import Locks
from domain.scheduling.locking.lock_index import LockIndex
from domain.scheduling.ranked import Ranked


class Turn(NamedTuple):
    """The sort key of a set that wants locks: nominal priority, highest first, submission, and its id."""

    negative_priority: int
    submission: int
    recipe_set_id: int


class Wanted(NamedTuple):
    """The locks that a set wants in a lab, and its turn."""

    turn: Turn
    lab: str
    locks: Locks

    @property
    def recipe_set_id(self) -> int:
        return self.turn.recipe_set_id


class Held(NamedTuple):
    """The locks that a started recipe holds, its set and its lab."""

    recipe_set_id: int
    lab: str
    locks: Locks


class LockQueue:
    """The held and wanted locks of one partition. Mutable.

    `waiting` has the sets that wait for their locks, `overtaken` how often each of them was overtaken since
    it began to wait, without those that never were.
    """

    def __init__(self, max_overtaken: int) -> None:
        self.waiting: dict[int, Wanted] = {}
        self.overtaken: dict[int, int] = {}
        self._max_overtaken = max_overtaken
        self._held: dict[int, Held] = {}
        self._held_index = LockIndex()
        self._wanted_index = LockIndex()
        self._owed_index = LockIndex()
        self._owed: dict[int, None] = {}
        # The waiting sets without a recorded blocker; the blocker of the others; the sets of each blocker.
        self._unblocked: Ranked[Turn] = Ranked()
        self._blocker: dict[int, int] = {}
        self._blocked_by: dict[int, dict[int, None]] = {}
        # The changed counts before the present tentative decisions, None for no count.
        self._counts_before: dict[int, int | None] | None = None

    def configure(self, max_overtaken: int) -> None:
        """Change the bound on overtaking; all waiting sets are examined again."""
        if max_overtaken == self._max_overtaken:
            return
        self._max_overtaken = max_overtaken
        for recipe_set_id in self.waiting:
            self._update_owed(recipe_set_id)
            self._unblock(recipe_set_id)

    # Held locks

    def hold(self, recipe_id: int, held: Held) -> None:
        """Record the locks of a started recipe, which may be fewer than before."""
        before = self._held.get(recipe_id)
        if before == held:
            return
        if before is not None:
            self.release(recipe_id)
        self._held[recipe_id] = held
        self._held_index.add(*held)

    def release(self, recipe_id: int) -> None:
        """Remove the locks of a recipe, if it has any."""
        held = self._held.pop(recipe_id, None)
        if held is not None:
            self._held_index.remove(*held)
            self._unblock_behind(held.recipe_set_id)

    # Waiting sets

    def wait(self, wanted: Wanted) -> None:
        """Record a set that waits for its locks, or its new turn or other names of its pools."""
        before = self.waiting.get(wanted.recipe_set_id)
        if before == wanted:
            return
        if before is not None:
            self._remove(before)
        self.waiting[wanted.recipe_set_id] = wanted
        self._wanted_index.add(wanted.recipe_set_id, wanted.lab, wanted.locks)
        self._unblocked.add(wanted.turn)
        self._update_owed(wanted.recipe_set_id)

    def stop_waiting(self, recipe_set_id: int) -> None:
        """Remove a set that got its locks, lost a system, or ended; its count of overtakings ends, too."""
        wanted = self.waiting.get(recipe_set_id)
        if wanted is not None:
            self._remove(wanted)
            del self.waiting[recipe_set_id]
            self._set_count(recipe_set_id, None)

    def _remove(self, wanted: Wanted) -> None:
        recipe_set_id = wanted.recipe_set_id
        self._wanted_index.remove(recipe_set_id, wanted.lab, wanted.locks)
        if recipe_set_id in self._owed:
            del self._owed[recipe_set_id]
            self._owed_index.remove(recipe_set_id, wanted.lab, wanted.locks)
        self._unblocked.discard(wanted.turn)
        self._forget_blocker(recipe_set_id)
        self._unblock_behind(recipe_set_id)

    def overtake(self, got: Wanted) -> None:
        """Count the sets that are overtaken by a set that got its locks."""
        for recipe_set_id in dict.fromkeys(self._wanted_index.conflicting(*_asked(got))):
            if self.waiting[recipe_set_id].turn < got.turn:
                self._set_count(recipe_set_id, self.overtaken.get(recipe_set_id, 0) + 1)
                self._update_owed(recipe_set_id)

    def _set_count(self, recipe_set_id: int, count: int | None) -> None:
        if self._counts_before is not None:
            self._counts_before.setdefault(recipe_set_id, self.overtaken.get(recipe_set_id))
        if count is None:
            self.overtaken.pop(recipe_set_id, None)
        else:
            self.overtaken[recipe_set_id] = count

    def is_owed(self, recipe_set_id: int) -> bool:
        """Return whether no set behind this one gets locks that conflict with those it wants."""
        return recipe_set_id in self._owed

    def _update_owed(self, recipe_set_id: int) -> None:
        wanted = self.waiting[recipe_set_id]
        owed = self.overtaken.get(recipe_set_id, 0) >= self._max_overtaken
        if owed and recipe_set_id not in self._owed:
            self._owed[recipe_set_id] = None
            self._owed_index.add(recipe_set_id, wanted.lab, wanted.locks)
        elif not owed and recipe_set_id in self._owed:
            del self._owed[recipe_set_id]
            self._owed_index.remove(recipe_set_id, wanted.lab, wanted.locks)
            self._unblock_behind(recipe_set_id)

    # Tentative decisions

    def begin_tentative(self) -> None:
        """Keep the counts of overtakings from now on, so that `rollback` can restore them."""
        self._counts_before = {}

    def confirm(self) -> None:
        self._counts_before = None

    def rollback(self) -> None:
        """Restore the counts of overtakings, after the states of the recipes were restored."""
        counts, self._counts_before = self._counts_before or {}, None
        for recipe_set_id, count in counts.items():
            self._set_count(recipe_set_id, count)
            if recipe_set_id in self.waiting:
                self._update_owed(recipe_set_id)

    def restore(self, overtaken: Mapping[int, int]) -> None:
        """Restore the counts from a snapshot, after the waiting sets."""
        self.overtaken = dict(overtaken)
        for recipe_set_id in self.waiting:
            self._update_owed(recipe_set_id)

    # Questions

    def next(self) -> int | None:
        """Return the first waiting set that can have its locks now, None if there is none."""
        while (turn := self._unblocked.first()) is not None:
            wanted = self.waiting[turn.recipe_set_id]
            blocker = self._holder_or_owed(wanted)
            if blocker is None:
                return turn.recipe_set_id
            self._block(wanted, blocker)
        return None

    @property
    def is_free(self) -> bool:
        """Return whether any set without locks can start: no set waits for locks or holds a whole lab."""
        return not self.waiting and not self._held_index.has_whole_lab

    def can_start(self, wanted: Wanted) -> bool:
        """Return whether a set whose last recipe got a system can have its locks at once."""
        return next(self.blockers(wanted), None) is None

    def blockers(self, wanted: Wanted) -> Iterator[int]:
        """Yield the sets that are in the way of a set that wants locks; a set may occur several times."""
        yield from self._held_index.conflicting(*_asked(wanted))
        yield from self._owed_before(wanted)
        if self.next() is not None:
            yield from self._unblocked_before(wanted)

    def _holder_or_owed(self, wanted: Wanted) -> int | None:
        holder = next(self._held_index.conflicting(*_asked(wanted)), None)
        return next(self._owed_before(wanted), None) if holder is None else holder

    def _owed_before(self, wanted: Wanted) -> Iterator[int]:
        for other in self._owed_index.conflicting(*_asked(wanted)):
            if self.waiting[other].turn < wanted.turn:
                yield other

    def _unblocked_before(self, wanted: Wanted) -> Iterator[int]:
        """Yield the sets before a set that can have their locks now and conflict with it."""
        able: list[Wanted] = []
        turns = list(self._unblocked)  # Sorted, and so a heap.
        while turns and (turn := heapq.heappop(turns)) < wanted.turn:
            other = self.waiting[turn.recipe_set_id]
            blocker = self._holder_or_owed(other)
            if blocker is None:
                blocker = next((each.recipe_set_id for each in able if _conflict(each, other)), None)
            if blocker is not None:
                # Sets that waited for this one alone stand behind it, and are examined in their turn.
                for freed in self._block(other, blocker):
                    heapq.heappush(turns, freed)
                continue
            able.append(other)
            if _conflict(other, wanted):
                yield other.recipe_set_id

    # Blockers

    def _block(self, wanted: Wanted, blocker: int) -> list[Turn]:
        """Record a blocker; return the turns of the sets that were blocked by this set until now."""
        recipe_set_id = wanted.recipe_set_id
        self._unblocked.discard(wanted.turn)
        self._blocker[recipe_set_id] = blocker
        self._blocked_by.setdefault(blocker, {})[recipe_set_id] = None
        # Sets that waited because this one could have had its locks wait no longer for it.
        return self._unblock_behind(recipe_set_id)

    def _unblock_behind(self, blocker: int) -> list[Turn]:
        """Remove the records of a blocker; return the turns of the sets that it blocked."""
        behind = list(self._blocked_by.get(blocker, ()))
        for recipe_set_id in behind:
            self._unblock(recipe_set_id)
        return [self.waiting[recipe_set_id].turn for recipe_set_id in behind]

    def _unblock(self, recipe_set_id: int) -> None:
        self._forget_blocker(recipe_set_id)
        self._unblocked.add(self.waiting[recipe_set_id].turn)

    def _forget_blocker(self, recipe_set_id: int) -> None:
        blocker = self._blocker.pop(recipe_set_id, None)
        if blocker is not None:
            del self._blocked_by[blocker][recipe_set_id]
            if not self._blocked_by[blocker]:
                del self._blocked_by[blocker]


def _asked(wanted: Wanted) -> tuple[int, str, Locks]:
    return wanted.recipe_set_id, wanted.lab, wanted.locks


def _conflict(one: Wanted, other: Wanted) -> bool:
    return conflicts(one.locks, other.locks, same_lab=one.lab == other.lab)
