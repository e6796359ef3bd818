"""Breadth-first search of all reachable states of a case; the first violation has the shortest history."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from domain.directory.state import Directory
from domain.scheduling.supply.access import AccessIndex
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.model_check.case import LabCase
from tests.model_check.copying import Copier
from tests.model_check.model import key_of
from tests.model_check.partitioned import world_of
from tests.model_check.steps import ModelViolation, Options, settle, successors


@dataclass
class Exploration:
    """Counts of an exploration, and its first violation, if any."""

    labs: int = 0
    states: int = 0
    steps: int = 0
    violation: ModelViolation | None = None

    def add(self, other: Exploration) -> None:
        self.labs += other.labs
        self.states += other.states
        self.steps += other.steps
        self.violation = self.violation or other.violation


# Actions that do not change the indexes of labs and systems.
CHANGING_NO_LAB = {
    "submit",
    "finish",
    "complete",
    "narrow",
    "tick",
    "cancel",
    "raise",
    "lower",
    "break",
    "repair",
    "drain",
    "undrain",
    "occupy",
    "vacate",
}


def explore(case: LabCase, options: Options, rules: Sequence[TriggerRule] = TRIGGER_RULES) -> Exploration:
    """Visit all states of one case, up to the first violation."""
    found = Exploration(labs=1)
    copier = Copier((Labs, AccessIndex, Directory) if CHANGING_NO_LAB.issuperset(options.verbs) else ())
    try:
        first = world_of(case, rules)
        settle(first, 1)
        seen: set[Any] = {key_of(first)}
        ahead = deque([first])
        while ahead:
            for world in successors(ahead.popleft(), options, copier):
                found.steps += 1
                key = key_of(world)
                if key not in seen:
                    seen.add(key)
                    ahead.append(world)
            found.states = len(seen)
    except ModelViolation as violation:
        found.violation = violation
    return found


def story(violation: ModelViolation) -> str:
    """Return the history of a violation as text."""
    return "\n".join([str(violation.world.case), *violation.story, f"=> {violation.what}"])
