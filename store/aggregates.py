"""A cache of the states of aggregates, updated from the log with one query for any number.

A system has events for years, so it takes long to read them all: `adopt` takes the states of systems that a
snapshot has, and systems stay in the cache. Other aggregates have few events, and their number grows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from domain.events import Moment
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from domain.read_set import ReadSet, neighbours
from domain.subjects import State, evolve
from domain.system.state import System
from runtime.locks import LockClass
from store.event_log import EventLog

MAX_CACHED_STATES = 20_000
# What the subject of a system begins with.
SYSTEM = "system/"


class Cached(NamedTuple):
    """A state, and the partition of its first event."""

    state: State
    partition: int


class Aggregates:
    """A cache of the immutable states of aggregates, by subject. Thread-safe.

    It holds all systems, because a lab has a limited number. Of the others it holds `max_cached`: those used
    last.
    """

    def __init__(self, log: EventLog, max_cached: int = MAX_CACHED_STATES) -> None:
        self._log = log
        self._max_cached = max_cached
        self._cached = LockClass.AGGREGATES.shared(OrderedDict[str, Cached]())
        self._systems = LockClass.AGGREGATES.shared(dict[str, Cached]())
        self._lock = LockClass.AGGREGATES.mutex()

    def adopt(self, systems: Collection[System]) -> None:
        """Take states of systems that follow from their events, unless later ones are cached."""
        with self._lock:
            for system in systems:
                self._put(f"{SYSTEM}{system.fqdn}", Cached(system, EVERYBODY))

    def load(self, subjects: Iterable[str]) -> dict[str, State]:
        """Return subject -> state of the existing aggregates, as of one position. Blocking; one query."""
        with self._lock:
            cached = {subject: self._of(subject) for subject in dict.fromkeys(subjects)}
        new_events = self._log.load(
            {subject: entry.state.version if entry else 0 for subject, entry in cached.items()}
        )
        for subject, events in new_events.items():
            entry = cached[subject]
            for recorded in events:
                before, partition = entry or (None, recorded.partition)
                entry = Cached(evolve(subject, before, recorded.event, Moment.of(recorded)), partition)
            cached[subject] = entry
        existing = {subject: entry for subject, entry in cached.items() if entry is not None}
        self._cache(existing)
        return {subject: entry.state for subject, entry in existing.items()}

    def recent(self, subjects: Iterable[str]) -> dict[str, State]:
        """Return subject -> state of existing aggregates, perhaps an older one. Blocking; mostly no query."""
        wanted = dict.fromkeys(subjects)
        with self._lock:
            entries = {subject: self._of(subject) for subject in wanted}
        found = {subject: entry.state for subject, entry in entries.items() if entry is not None}
        missing = [subject for subject in wanted if subject not in found]
        return {**found, **self.load(missing)} if missing else found

    def partitions(self, subjects: Iterable[str]) -> dict[str, int]:
        """Return the partitions of existing jobs, recipes, sets and commands. Blocking; mostly no query."""
        wanted = dict.fromkeys(subjects)
        with self._lock:
            cached = {subject: self._of(subject) for subject in wanted}
        found = {subject: entry.partition for subject, entry in cached.items() if entry is not None}
        unknown = [subject for subject in wanted if subject not in found]
        if unknown:
            found |= self._log.first_partitions(unknown)
        return {subject: number or DEFAULT_NUMBER for subject, number in found.items()}

    def as_of(self, subject: str, position: int) -> State | None:
        """Return the state at a position, None before the first event. Blocking; one query, no cache."""
        return self.all_as_of([subject], position).get(subject)

    def all_as_of(self, subjects: Iterable[str], position: int) -> dict[str, State]:
        """Return subject -> state at a position of the aggregates that existed then, as `as_of` does."""
        found: dict[str, State] = {}
        for subject, events in self._log.load(dict.fromkeys(subjects, 0)).items():
            for recorded in events:
                if recorded.position <= position:
                    before = found.get(subject)
                    found[subject] = evolve(subject, before, recorded.event, Moment.of(recorded))
        return found

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
                entry = self._of(todo.pop())
                fresh = [other for other in neighbours(entry.state) if other not in reached] if entry else []
                reached.update(dict.fromkeys(fresh))
                todo += fresh
        return reached

    def _cache(self, states: dict[str, Cached]) -> None:
        with self._lock:
            for subject, entry in states.items():
                self._put(subject, entry)
            while len(self._cached) > self._max_cached:
                self._cached.popitem(last=False)

    def _of(self, subject: str) -> Cached | None:
        return (self._systems if subject.startswith(SYSTEM) else self._cached).get(subject)

    def _put(self, subject: str, entry: Cached) -> None:
        """Cache a state, unless another thread has cached a later one meanwhile."""
        before = self._of(subject)
        if before is None or before.state.version < entry.state.version:
            (self._systems if subject.startswith(SYSTEM) else self._cached)[subject] = entry
        if subject in self._cached:
            self._cached.move_to_end(subject)
