"""The class of each set that needs room under limits, and the sets that are charged (design 5.4)."""

from __future__ import annotations

from domain.admission.job_filters import JobFilter
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.rooms import UNLIMITED, Needs, Rooms
from domain.scheduling.sets.set_states import SetStates


class SetClasses:
    """The classes of sets. Mutable: `put` the class of each set, `charge` it when a recipe changes its state.

    `numbers` has the class of each set that needs room; most partitions have no such set.
    """

    def __init__(self, states: SetStates, rooms: Rooms) -> None:
        self.numbers: dict[int, int] = {}
        self._states = states
        self._rooms = rooms

    def present_needs(self, recipe_set: RecipeSet, applying: JobFilter | None) -> Needs:
        """Return what a set needs by the present rules; `applying` is the job filter that applies to it."""
        host_count = self._states.host_counts[recipe_set.recipe_set_id]
        return self._rooms.needs(recipe_set, host_count, applying)

    def put(self, recipe_set_id: int, needs: Needs) -> None:
        """Put a set into the class of its needs; the caller indexes its hosts again."""
        if not needs:
            self.drop(recipe_set_id)
            return
        if needs != self.needs(recipe_set_id):
            before = self.numbers.get(recipe_set_id)
            self.numbers[recipe_set_id] = self._rooms.join(needs)
            if before is not None:
                self._rooms.leave(before)
        self.charge(recipe_set_id)

    def drop(self, recipe_set_id: int) -> None:
        """Drop a set that has ended, or that no longer needs room."""
        number = self.numbers.pop(recipe_set_id, None)
        if number is not None:
            self._rooms.release(recipe_set_id)
            self._rooms.leave(number)

    def charge(self, recipe_set_id: int) -> None:
        """Charge a set with a class if it holds systems or has started, and release it otherwise."""
        if self._states.holds_nothing(self._states.sets[recipe_set_id]):
            self._rooms.release(recipe_set_id)
        else:
            self._rooms.charge(recipe_set_id, self.needs(recipe_set_id))

    def needs(self, recipe_set_id: int) -> Needs:
        """Return the needs of a set under each of its limits."""
        return self._rooms.needs_of(self.numbers.get(recipe_set_id, UNLIMITED))

    def lacks_room(self, recipe_set_id: int) -> bool:
        """Return whether a set that holds nothing has no room under some limit."""
        if recipe_set_id not in self.numbers or recipe_set_id in self._rooms.charged:
            return False
        return not self._rooms.has_room(self.needs(recipe_set_id))
