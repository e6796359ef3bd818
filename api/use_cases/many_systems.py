"""Decisions on many systems in one commit, each on the state after the previous ones, and their errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.use_cases.change_system import NewSystemValues
from api.use_cases.ports import RequestContext
from api.use_cases.system_rights import rights_subjects
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput, NotPermitted, Refused
from domain.events import Decided
from domain.read_set import ReadSet
from domain.subjects import State, evolve_tentatively
from domain.system.state import System


@dataclass
class TentativeStates:
    """The states of a read set after decisions that are not appended yet."""

    gathered: ReadSet

    def __post_init__(self) -> None:
        self._after: dict[str, State] = dict(self.gathered.states)

    @property
    def now(self) -> ReadSet:
        return ReadSet(self._after)

    def apply(self, decided: Decided) -> None:
        for subject, event in decided:
            if subject in self._after:
                self._after[subject] = evolve_tentatively(subject, self._after[subject], event)

    def used_versions(self, system: System, change: NewSystemValues) -> dict[str, int]:
        """Return the versions of a system, and of its recipe's set if its condition changes."""
        states: list[State] = [system]
        recipe = None if system.recipe_id is None else self.gathered.recipe(system.recipe_id)
        if recipe is not None and change.condition not in (None, system.condition):
            members = self.gathered.members(recipe.recipe_set_id)
            of_set = self.gathered.recipe_set(recipe.recipe_set_id)
            assert of_set is not None, "a recipe is gathered together with its set"
            states += [of_set, *members.recipes, *members.systems.values()]
        return {state.subject: state.version for state in states}


@dataclass
class CollectedErrors:
    """The errors of many items, to raise together. Of equal messages one is kept."""

    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Dicts as ordered sets: many systems may have the same message.
        self._not_permitted: dict[str, None] = {}
        self._refused: dict[str, None] = {}

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the NotPermitted or Refused that ends the body."""
        try:
            yield
        except NotPermitted as error:
            self._not_permitted[str(error)] = None
        except Refused as error:
            self._refused[str(error)] = None

    def require_none(self) -> None:
        """Raise FaultyInput, else NotPermitted, else Refused, with the messages of all items."""
        if self.faults:
            raise FaultyInput(self.faults)
        if self._not_permitted:
            raise NotPermitted("; ".join(self._not_permitted))
        if self._refused:
            raise Refused("; ".join(self._refused))


def used_subjects(directory: Directory, request: RequestContext, system: System) -> Iterator[str]:
    """Yield the subjects on which a change of a system depends: rights, and a removed lab."""
    yield from rights_subjects(directory, system, request.actor)
    if system.condition == "Removed":
        yield f"lab-controller/{system.lab_controller}"
