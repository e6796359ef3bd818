"""Events of tentative decisions: applied to the partition before they are in the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from domain.events import Moment
from domain.recipe.state import Recipe, recorded
from domain.scheduling.sets.preemptions import Preemption
from domain.scheduling.world.trigger_rules import TriggerKey
from domain.subjects import State
from domain.system.state import System


class CommitPlace(NamedTuple):
    """The place of a commit in the log.

    `preceding` is the last position before it that must be folded before it, `recorded_at` the database's
    time.
    """

    first_position: int
    last_position: int
    preceding: int
    recorded_at: datetime


class TentativeEvents:
    """Events of tentative decisions, and the data to roll them back. Mutable.

    `after` is the position up to which the log is folded, `now` the time of the decisions. Before the events
    have positions in the log, they have those right behind it. `states_before` has the changed states by
    subject, `newly_assigned` the newly assigned recipes, both as before the decisions.
    `overtaken_before` has the counts of overtakings that were changed, by set, as before the decisions.
    `preempted` lists the preemptions in order, to undo them.
    `raised` lists the triggers of the events, each with the position of its event.
    """

    def __init__(self, after: int, now: datetime | None, newly_assigned: Iterable[int] = ()) -> None:
        self.newly_assigned = frozenset(newly_assigned)
        self.states_before: dict[str, State] = {}
        self.overtaken_before: dict[int, int] = {}
        self.preempted: list[Preemption] = []
        self.raised: list[tuple[int, TriggerKey]] = []
        self.last_position = after
        self._after = after
        self._offset = 0
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
        return recorded(recipe, self._now, recorded_at)

    def is_commit(self, place: CommitPlace) -> bool:
        """Return whether the events are the commit at this place, with nothing unread before it."""
        count = place.last_position - place.first_position + 1
        is_whole = self._now is not None and count == self.last_position - self._after
        return is_whole and place.preceding <= self._after

    def move_to(self, place: CommitPlace) -> None:
        """Give the events the positions of their commit."""
        self._offset = place.first_position - self._after - 1
        self.last_position = place.last_position
        self.raised = [(position + self._offset, key) for position, key in self.raised]

    def moved(self, system: System) -> System:
        """Return a system whose positions of tentative events are those of the commit."""
        if not self._offset or system.since <= self._after:
            return system
        return replace(system, since=system.since + self._offset)
