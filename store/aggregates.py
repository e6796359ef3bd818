"""A cache of the states of aggregates, updated from the log with one query for any number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from domain.events import Moment
from domain.read_set import ReadSet, neighbours
from domain.subjects import State, evolve
from runtime.locks import LockClass
from store.event_log import EventLog

MAX_CACHED_STATES = 20_000


class Aggregates:
    """A least-recently-used cache of the immutable states of aggregates, by subject. Thread-safe."""

    def __init__(self, log: EventLog, max_cached: int = MAX_CACHED_STATES) -> None:
        self._log = log
        self._max_cached = max_cached
        self._states = LockClass.AGGREGATES.shared(OrderedDict[str, State]())
        self._lock = LockClass.AGGREGATES.mutex()

    def load(self, subjects: Iterable[str]) -> dict[str, State]:
        """Return subject -> state of the existing aggregates, as of one position. Blocking; one query."""
        with self._lock:
            states = {subject: self._states.get(subject) for subject in dict.fromkeys(subjects)}
        new_events = self._log.load(
            {subject: state.version if state else 0 for subject, state in states.items()}
        )
        for subject, events in new_events.items():
            state = states[subject]
            for recorded in events:
                state = evolve(subject, state, recorded.event, Moment.of(recorded))
            states[subject] = state
        existing = {subject: state for subject, state in states.items() if state is not None}
        self._cache(existing)
        return existing

    def as_of(self, subject: str, position: int) -> State | None:
        """Return the state at a position, None before the first event. Blocking; one query, no cache."""
        state: State | None = None
        for recorded in self._log.load({subject: 0})[subject]:
            if recorded.position <= position:
                state = evolve(subject, state, recorded.event, Moment.of(recorded))
        return state

    def gather(self, subjects: Iterable[str]) -> ReadSet:
        """Return the aggregates with their neighbours: a recipe's whole set, and the systems of the set.

        Blocking. Mostly one query is enough, because cached states name their neighbours. Without cached
        states, any number of subjects takes four queries (systems five), and each concurrent change of
        neighbours one more.
        """
        wanted = self._with_cached_neighbours(subjects)
        while True:
            states = self.load(wanted)
            more = [other for state in states.values() for other in neighbours(state) if other not in wanted]
            if not more:
                return ReadSet(states)
            wanted.update(dict.fromkeys(more))

    def _with_cached_neighbours(self, subjects: Iterable[str]) -> dict[str, None]:
        """Return the subjects and all their direct and indirect neighbours that cached states name."""
        reached = dict.fromkeys(subjects)
        todo = list(reached)
        with self._lock:
            while todo:
                state = self._states.get(todo.pop())
                fresh = [other for other in neighbours(state) if other not in reached] if state else []
                reached.update(dict.fromkeys(fresh))
                todo += fresh
        return reached

    def _cache(self, states: dict[str, State]) -> None:
        with self._lock:
            for subject, state in states.items():
                self._states[subject] = state
                self._states.move_to_end(subject)
            while len(self._states) > self._max_cached:
                self._states.popitem(last=False)
