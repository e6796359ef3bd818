"""Aggregates as the log has made them, kept in memory and brought up to date by one query for many."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from domain.events import Moment
from domain.read_set import ReadSet, neighbours
from domain.subjects import State, evolve
from store.event_log import EventLog

REMEMBERED = 20_000


class Aggregates:
    """States are immutable, so sharing them is safe; each load asks only for events that are new."""

    def __init__(self, log: EventLog, remembered: int = REMEMBERED) -> None:
        self._log = log
        self._remembered = remembered
        self._states: OrderedDict[str, State] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, subjects: Iterable[str]) -> dict[str, State]:
        """The states of those that exist, all as of one position. Blocking; one query."""
        with self._lock:
            known = {subject: self._states.get(subject) for subject in dict.fromkeys(subjects)}
        news = self._log.load({subject: state.version if state else 0 for subject, state in known.items()})
        for subject, events in news.items():
            state = known[subject]
            for recorded in events:
                state = evolve(subject, state, recorded.event, Moment.of(recorded))
            known[subject] = state
        found = {subject: state for subject, state in known.items() if state is not None}
        self._remember(found)
        return found

    def as_of(self, subject: str, position: int) -> State | None:
        """The state that one had at a position. Blocking; one query, and nothing remembered."""
        state: State | None = None
        for recorded in self._log.load({subject: 0})[subject]:
            if recorded.position <= position:
                state = evolve(subject, state, recorded.event, Moment.of(recorded))
        return state

    def gather(self, subjects: Iterable[str]) -> ReadSet:
        """The same with everything that belongs to them: of a recipe its whole set, of that its systems.

        Blocking. What is remembered tells what belongs together, so mostly one query is enough; four (from
        systems five) when nothing is, however many subjects, and one more each time it changes meanwhile.
        """
        wanted = self._together(subjects)
        while True:
            states = self.load(wanted)
            more = [other for state in states.values() for other in neighbours(state) if other not in wanted]
            if not more:
                return ReadSet(states)
            wanted.update(dict.fromkeys(more))

    def _together(self, subjects: Iterable[str]) -> dict[str, None]:
        """The subjects and, as far as is remembered, all that belongs to them."""
        found = dict.fromkeys(subjects)
        todo = list(found)
        with self._lock:
            while todo:
                state = self._states.get(todo.pop())
                fresh = [other for other in neighbours(state) if other not in found] if state else []
                found.update(dict.fromkeys(fresh))
                todo += fresh
        return found

    def _remember(self, found: dict[str, State]) -> None:
        with self._lock:
            for subject, state in found.items():
                self._states[subject] = state
                self._states.move_to_end(subject)
            while len(self._states) > self._remembered:
                self._states.popitem(last=False)
