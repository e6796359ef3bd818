"""The state of a system after decided events."""

from __future__ import annotations

from domain.events import Decided
from domain.system.lifecycle import USAGE
from domain.system.state import System, evolve
from tests.domain.recipe.samples import moment


def after(system: System, decided: Decided) -> System:
    """Return the system after the events, whose usages must follow the table of transitions."""
    for _, event in decided:
        before, system = system, evolve(system, "a", event, moment(system.version + 1))
        if hasattr(event, "USAGE"):
            USAGE.require(system.subject, before.usage, system.usage)
    return system
