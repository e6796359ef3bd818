"""Aggregates as the log has made them, kept in memory and brought up to date by one query for many."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from api.store.event_log import EventLog
from api.store.gathered import Gathered, State, neighbours
from domain.events import Decided, Event, Moment, split_subject
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.recipe_set.members import Members
from domain.recipe_set.state import RecipeSet
from domain.recipe_set.state import evolve as evolve_recipe_set
from domain.system.state import System
from domain.system.state import evolve as evolve_system

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
                state = after(subject, state, recorded.event, Moment.of(recorded))
            known[subject] = state
        found = {subject: state for subject, state in known.items() if state is not None}
        self._remember(found)
        return found

    def as_of(self, subject: str, position: int) -> State | None:
        """The state that one had at a position. Blocking; one query, and nothing remembered."""
        state: State | None = None
        for recorded in self._log.load({subject: 0})[subject]:
            if recorded.position <= position:
                state = after(subject, state, recorded.event, Moment.of(recorded))
        return state

    def gather(self, subjects: Iterable[str]) -> Gathered:
        """The same with everything that belongs to them: of a recipe its whole set, of that its systems.

        Blocking. What is remembered tells what belongs together, so mostly one query is enough; four (from
        systems five) when nothing is, however many subjects, and one more each time it changes meanwhile.
        """
        wanted = self._together(subjects)
        while True:
            states = self.load(wanted)
            more = [other for state in states.values() for other in neighbours(state) if other not in wanted]
            if not more:
                return Gathered(states)
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


def after(subject: str, state: State | None, event: Event, moment: Moment) -> State:
    """A recipe, recipe set or system after one more event."""
    kind, name = split_subject(subject)
    return _EVOLVE[kind](state, name, event, moment)


def supposed(subject: str, state: State, event: Event) -> State:
    """The same after an event that was decided: not in the log yet, it has no position there and no time."""
    return after(subject, state, event, Moment(state.version + 1, 0, None))


def members_after(members: Members, decided: Decided) -> Members:
    """A recipe set as it will be when what is decided has happened."""
    every: tuple[State, ...] = (*members.recipes, *members.systems.values())
    states = {state.subject: state for state in every}
    for subject, event in decided:
        states[subject] = supposed(subject, states[subject], event)
    recipes = tuple(state for state in states.values() if isinstance(state, Recipe))
    systems = {state.fqdn: state for state in states.values() if isinstance(state, System)}
    return Members(recipes, systems)


def _recipe(state: State | None, name: str, event: Event, moment: Moment) -> State:
    assert state is None or isinstance(state, Recipe)
    return evolve_recipe(state, int(name), event, moment)


def _recipe_set(state: State | None, name: str, event: Event, moment: Moment) -> State:
    assert state is None or isinstance(state, RecipeSet)
    return evolve_recipe_set(state, int(name), event, moment)


def _system(state: State | None, name: str, event: Event, moment: Moment) -> State:
    assert state is None or isinstance(state, System)
    return evolve_system(state, name, event, moment)


_EVOLVE: dict[str, Callable[[State | None, str, Event, Moment], State]] = {
    "recipe": _recipe,
    "recipe-set": _recipe_set,
    "system": _system,
}
