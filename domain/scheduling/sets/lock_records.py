"""The records of resource locks: the locks that hosts hold, wait for, and are weighed with."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from domain.contention.algebra import held, merge
from domain.contention.locks import NO_LOCKS, Locks
from domain.recipe.lifecycle import PLACED
from domain.recipe.state import Recipe
from domain.scheduling.demand.weighing import Placed, Weighing
from domain.scheduling.locking.lock_queue import Held, LockQueue, Turn, Wanted
from domain.scheduling.sets.set_states import SetStates, lab_of


class LockRecords:
    """Updates of the lock queue and of the weighing from the states of sets and recipes.

    `locks_of_placed` returns the locks with which a placed host counts for the weights of others.
    """

    def __init__(
        self,
        states: SetStates,
        queue: LockQueue,
        weighing: Weighing,
        locks_of_placed: Callable[[Recipe], Locks],
    ) -> None:
        self._states = states
        self._queue = queue
        self._weighing = weighing
        self._locks_of_placed = locks_of_placed

    def note(self, before: Recipe | None, host: Recipe) -> None:
        """Record the locks that a host with a new state holds or waits for."""
        held_before = None if before is None else before.held
        if host.held is not None and host.held is held_before:
            return
        awaits = host.awaits_locks or (before is not None and before.awaits_locks)
        if host.held is held_before and not awaits:
            return
        if host.held is not None:
            self._queue.hold(host.recipe_id, Held(host.recipe_set_id, lab_of(host), host.held))
        elif held_before is not None:
            self._queue.release(host.recipe_id)
        if awaits:
            self._update_wanted(host.recipe_set_id)
        if host.held is not None and held_before is None and self._queue.waiting:
            self._count_overtaken(host.recipe_set_id)

    def update(self, recipe_set_id: int) -> None:
        """Update the locks and the turn of a set, if it waits for its locks."""
        if recipe_set_id in self._queue.waiting:
            self._update_wanted(recipe_set_id)

    def pools_changed(self, recipe: Recipe) -> None:
        """Weigh a recipe again, and update the locks that its set awaits: `$pools` has other names now."""
        self.weigh(recipe)
        self.update(recipe.recipe_set_id)

    def weigh(self, host: Recipe) -> None:
        """Count the locks of a host, with those of its guests, if it is placed."""
        if host.state in PLACED:
            placed = Placed(self._locks_of_placed(host), host.recipe_set_id)
            self._weighing.place(host.recipe_id, placed)
        else:
            self._weighing.remove(host.recipe_id)

    def wanted(self, recipe_set_id: int) -> Wanted | None:
        """Return the locks that a set waits for; None for a set that does not wait for locks."""
        hosts = [host for host in self._states.hosts(recipe_set_id) if not host.finished]
        if not hosts or not all(host.awaits_locks for host in hosts):
            return None
        return self.as_wanted(recipe_set_id, map(self._locks_of_placed, hosts))

    def as_wanted(self, recipe_set_id: int, locks: Iterable[Locks]) -> Wanted:
        """Return the locks of all recipes of a set with systems as wanted locks: unknown names as all."""
        recipe_set = self._states.sets[recipe_set_id]
        turn = Turn(-recipe_set.priority, recipe_set.submission, recipe_set_id)
        declared = [each for each in locks if each != NO_LOCKS]
        # Most sets have one recipe, and stored locks need no merge with themselves.
        merged = declared[0] if len(declared) == 1 else merge(*declared)
        return Wanted(turn, lab_of(self._states.hosts(recipe_set_id)[0]), held(merged))

    def _update_wanted(self, recipe_set_id: int) -> None:
        wanted = self.wanted(recipe_set_id)
        if wanted is None:
            self._queue.stop_waiting(recipe_set_id)
        else:
            self._queue.wait(wanted)

    def _count_overtaken(self, recipe_set_id: int) -> None:
        """Count the waiting sets that a set has overtaken, once all its recipes have their locks."""
        hosts = [host for host in self._states.hosts(recipe_set_id) if not host.finished]
        if all(host.started for host in hosts):
            locks = (host.held for host in hosts)
            self._queue.overtake(self.as_wanted(recipe_set_id, (each for each in locks if each is not None)))
