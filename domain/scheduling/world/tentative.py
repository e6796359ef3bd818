"""Events of tentative decisions: applied to the partition before they are in the log."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from domain.events import Moment
from domain.recipe import watchdog
from domain.recipe.state import Recipe
from domain.scheduling.world.trigger_rules import TriggerKey
from domain.subjects import State


class TentativeEvents:
    """Events of tentative decisions, and the data to roll them back. Mutable.

    `after` is the position before the first event, `now` the time of the decisions. `states_before` has the
    changed states by subject, `newly_assigned` the newly assigned recipes, both as before the decisions.
    `overtaken_before` has the counts of overtakings that were changed, by set, as before the decisions.
    `raised` lists the triggers of the events, each with the position of its event.
    """

    def __init__(self, after: int, now: datetime | None, newly_assigned: Iterable[int] = ()) -> None:
        self.newly_assigned = frozenset(newly_assigned)
        self.states_before: dict[str, State] = {}
        self.overtaken_before: dict[int, int] = {}
        self.raised: list[tuple[int, TriggerKey]] = []
        self.last_position = after
        self._after = after
        self._now = now

    def __bool__(self) -> bool:
        return bool(self.states_before)

    def next_moment(self, subject: str, state: State) -> Moment:
        """Return the moment of the next event; `state` is the state of its subject before the event."""
        self.states_before.setdefault(subject, state)
        self.last_position += 1
        return Moment(state.version + 1, self.last_position, self._now)

    def as_recorded(self, recipe: Recipe, recorded_at: datetime) -> Recipe:
        """Return a tentative recipe with the times of the commit that recorded it."""
        assert self._now is not None, "decisions without a time are not committed"
        return watchdog.recorded(recipe, self._now, recorded_at)

    def is_commit(self, first_position: int, last_position: int) -> bool:
        """Return whether the events have these positions in the log, with no other event in between."""
        positions = (self._after + 1, self.last_position)
        return self._now is not None and positions == (first_position, last_position)
