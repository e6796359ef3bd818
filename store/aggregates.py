"""A cache of aggregates, brought up to date from the log with one query for many."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from domain.events import Moment
from domain.read_set import ReadSet, neighbours
from domain.subjects import State, evolve
from store.event_log import EventLog

MAX_CACHED_STATES = 20_000


class Aggregates:
    """States of aggregates by subject, the least recently used dropped first. Thread-safe: states are
    immutable.
    """

    def __init__(self, log: EventLog, max_cached: int = MAX_CACHED_STATES) -> None:
        self._log = log
        self._max_cached = max_cached
        self._states: OrderedDict[str, State] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, subjects: Iterable[str]) -> dict[str, State]:
        """Return the states of existing aggregates, all as of one position. Blocking; one query for new
        events.
        """
        with self._lock:
            states = {subject: self._states.get(subject) for subject in dict.fromkeys(subjects)}
        news = self._log.load({subject: state.version if state else 0 for subject, state in states.items()})
        for subject, events in news.items():
            state = states[subject]
            for recorded in events:
                state = evolve(subject, state, recorded.event, Moment.of(recorded))
            states[subject] = state
        found = {subject: state for subject, state in states.items() if state is not None}
        self._cache(found)
        return found

    def as_of(self, subject: str, position: int) -> State | None:
        """Return the state at a position. Blocking; one query, without the cache."""
        state: State | None = None
        for recorded in self._log.load({subject: 0})[subject]:
            if recorded.position <= position:
                state = evolve(subject, state, recorded.event, Moment.of(recorded))
        return state

    def gather(self, subjects: Iterable[str]) -> ReadSet:
        """Return the aggregates with their neighbours: a recipe's whole set, and the systems of the set.

        Blocking. Mostly one query is enough, because cached states name their neighbours. Without cached
        states it takes four queries (five from systems) for any number of subjects, and one more for each
        concurrent change.
        """
        wanted = self._together(subjects)
        while True:
            states = self.load(wanted)
            more = [other for state in states.values() for other in neighbours(state) if other not in wanted]
            if not more:
                return ReadSet(states)
            wanted.update(dict.fromkeys(more))

    def _together(self, subjects: Iterable[str]) -> dict[str, None]:
        """Return the subjects and, by cached states, their neighbours."""
        found = dict.fromkeys(subjects)
        todo = list(found)
        with self._lock:
            while todo:
                state = self._states.get(todo.pop())
                fresh = [other for other in neighbours(state) if other not in found] if state else []
                found.update(dict.fromkeys(fresh))
                todo += fresh
        return found

    def _cache(self, found: dict[str, State]) -> None:
        with self._lock:
            for subject, state in found.items():
                self._states[subject] = state
                self._states.move_to_end(subject)
            while len(self._states) > self._max_cached:
                self._states.popitem(last=False)
