"""The recipes with a running watchdog, by its end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from heapq import heapify, heappop, heappush

from domain.recipe.state import Recipe

# Outdated ends are removed when the ends are more than twice the running watchdogs, plus this number.
_FEW_OUTDATED = 1_024


class Watchdogs:
    """The running watchdogs of the present `recipes`. Mutable.

    The ends are in a heap. An outdated end stays there until it is reached, or until there are too many of
    them; an end is valid if the recipe still has it. So finding the expired watchdogs does not visit every
    running recipe.
    """

    def __init__(self, recipes: Mapping[int, Recipe]) -> None:
        self.running: dict[int, None] = {}
        self._recipes = recipes
        self._ends: list[tuple[datetime, int]] = []

    def put(self, before: Recipe | None, recipe: Recipe) -> None:
        """Note a new state of a recipe. The log has the end of its watchdog once the event is recorded."""
        recipe_id, end = recipe.recipe_id, recipe.recorded_deadline
        if recipe.deadline is None:
            self.running.pop(recipe_id, None)
        else:
            self.running[recipe_id] = None
        if end is not None and (before is None or before.recorded_deadline != end):
            heappush(self._ends, (end, recipe_id))
            if len(self._ends) > 2 * len(self.running) + _FEW_OUTDATED:
                self._remove_outdated()

    def expired(self, now: datetime) -> list[int]:
        """Return the recipes whose watchdog has expired, by id."""
        found: dict[int, datetime] = {}
        while self._ends and self._ends[0][0] <= now:
            end, recipe_id = heappop(self._ends)
            if self._is_valid(end, recipe_id):
                found[recipe_id] = end
        # They stay in the heap, because the decisions on them may be rolled back.
        for recipe_id, end in found.items():
            heappush(self._ends, (end, recipe_id))
        return sorted(found)

    def _is_valid(self, end: datetime, recipe_id: int) -> bool:
        recipe = self._recipes.get(recipe_id)
        return recipe is not None and recipe.recorded_deadline == end

    def _remove_outdated(self) -> None:
        self._ends = [(end, recipe_id) for end, recipe_id in self._ends if self._is_valid(end, recipe_id)]
        heapify(self._ends)
