"""Every state that a case can come to, the nearest first: the first violation has the shortest story."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from domain.directory.state import Directory
from domain.scheduling.supply.access import AccessIndex
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.wake_ups import TRIGGER_RULES, TriggerRule
from tests.model_check.case import Case
from tests.model_check.copying import Copier
from tests.model_check.model import Model, key_of
from tests.model_check.steps import Manner, Violation, settle, successors


@dataclass
class Found:
    """How much was gone through; `violation` is the first, if there is one."""

    labs: int = 0
    states: int = 0
    steps: int = 0
    violation: Violation | None = None

    def add(self, other: Found) -> None:
        self.labs += other.labs
        self.states += other.states
        self.steps += other.steps
        self.violation = self.violation or other.violation


# With these alone, what is known of labs and systems stays as it is.
CHANGING_NO_LAB = {
    "submit",
    "finish",
    "complete",
    "cancel",
    "raise",
    "lower",
    "break",
    "repair",
    "drain",
    "undrain",
}


def explore(case: Case, manner: Manner, rules: Sequence[TriggerRule] = TRIGGER_RULES) -> Found:
    """All states of one case; ends at the first violation."""
    found = Found(labs=1)
    copier = Copier((Labs, AccessIndex, Directory) if CHANGING_NO_LAB.issuperset(manner.verbs) else ())
    try:
        first = Model(case, rules)
        settle(first, 1)
        seen: set[Any] = {key_of(first)}
        ahead = deque([first])
        while ahead:
            for world in successors(ahead.popleft(), manner, copier):
                found.steps += 1
                key = key_of(world)
                if key not in seen:
                    seen.add(key)
                    ahead.append(world)
            found.states = len(seen)
    except Violation as violation:
        found.violation = violation
    return found


def story(violation: Violation) -> str:
    """What happened, for people."""
    return "\n".join([str(violation.world.case), *violation.story, f"=> {violation.what}"])
