"""Tentative decisions: events applied to the partition before they are in the log."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from domain.events import Moment
from domain.recipe import watchdog
from domain.recipe.state import Recipe
from domain.scheduling.world.trigger_rules import TriggerKey
from domain.subjects import State


class Tentative:
    """Tentative decisions. Mutable.

    `after` is the position before the first tentative event, `at` the time of the decisions. `before` has the
    states by subject before the decisions, `newly_assigned` the newly assigned recipes before them. `raised`
    lists the triggers of the events, each with its position.
    """

    def __init__(self, after: int, at: datetime | None, newly_assigned: Iterable[int] = ()) -> None:
        self.newly_assigned = frozenset(newly_assigned)
        self.before: dict[str, State] = {}
        self.raised: list[tuple[int, TriggerKey]] = []
        self.last_position = after
        self._after = after
        self._at = at

    def __bool__(self) -> bool:
        return bool(self.before)

    def next_moment(self, subject: str, state: State) -> Moment:
        """Return the moment of the next event; `state` is the state of its subject before the event."""
        self.before.setdefault(subject, state)
        self.last_position += 1
        return Moment(state.version + 1, self.last_position, self._at)

    def as_recorded(self, recipe: Recipe, recorded_at: datetime) -> Recipe:
        """Return a tentative recipe with the times of the commit that recorded it."""
        assert self._at is not None, "decisions without a time are not committed"
        return watchdog.recorded(recipe, self._at, recorded_at)

    def is_at(self, first_position: int, last_position: int) -> bool:
        """Return whether a commit consists of exactly these events, with no other event in between."""
        place = (self._after + 1, self.last_position)
        return self._at is not None and place == (first_position, last_position)
