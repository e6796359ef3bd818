"""A system as it will be when what is decided has happened."""

from __future__ import annotations

from domain.events import Decided
from domain.system.lifecycle import USAGE
from domain.system.state import System, evolve
from tests.domain.recipe.samples import moment


def after(system: System, decided: Decided) -> System:
    """Each move of its usage is one that the table has."""
    for _, event in decided:
        before, system = system, evolve(system, "a", event, moment(system.version + 1))
        if hasattr(event, "USAGE"):
            USAGE.require(system.subject, before.usage, system.usage)
    return system
