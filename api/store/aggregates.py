"""Aggregates as the log has made them, kept in memory and brought up to date by one query for many."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from api.store.event_log import EventLog
from domain.events import Event, split_subject
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.system.state import System
from domain.system.state import evolve as evolve_system

State = Recipe | System
REMEMBERED = 20_000


class Aggregates:
    """States are immutable, so sharing them is safe; each load asks only for events that are new."""

    def __init__(self, log: EventLog, remembered: int = REMEMBERED) -> None:
        self._log = log
        self._remembered = remembered
        self._states: OrderedDict[str, State] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, subjects: Iterable[str]) -> dict[str, State]:
        """The states of those that exist. Blocking; one query."""
        with self._lock:
            known = {subject: self._states.get(subject) for subject in dict.fromkeys(subjects)}
        news = self._log.load({subject: state.version if state else 0 for subject, state in known.items()})
        for subject, events in news.items():
            state = known[subject]
            for recorded in events:
                state = after(subject, state, recorded.event, recorded.version, recorded.position)
            known[subject] = state
        found = {subject: state for subject, state in known.items() if state is not None}
        self._remember(found)
        return found

    def _remember(self, found: dict[str, State]) -> None:
        with self._lock:
            for subject, state in found.items():
                self._states[subject] = state
                self._states.move_to_end(subject)
            while len(self._states) > self._remembered:
                self._states.popitem(last=False)


def after(subject: str, state: State | None, event: Event, version: int, position: int) -> State:
    """A recipe or system after one more event."""
    kind, name = split_subject(subject)
    return _EVOLVE[kind](state, name, event, version, position)


def _recipe(state: State | None, name: str, event: Event, version: int, position: int) -> State:
    assert state is None or isinstance(state, Recipe)
    return evolve_recipe(state, int(name), event, version, position)


def _system(state: State | None, name: str, event: Event, version: int, position: int) -> State:
    assert state is None or isinstance(state, System)
    return evolve_system(state, name, event, version, position)


_EVOLVE: dict[str, Callable[[State | None, str, Event, int, int], State]] = {
    "recipe": _recipe,
    "system": _system,
}
