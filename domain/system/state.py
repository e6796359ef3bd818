"""A system as its events have made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from domain.events import Event
from domain.system import events as happened


@dataclass(frozen=True, slots=True)
class System:
    """`recipe_id` is the recipe that has it, `since` the log position of its present usage."""

    fqdn: str
    version: int
    lab_controller: str
    owner: str
    condition: str
    inventory: Mapping[str, Any]
    usage: str = "idle"
    recipe_id: int | None = None
    since: int = 0

    @property
    def subject(self) -> str:
        return f"system/{self.fqdn}"


def evolve(system: System | None, fqdn: str, event: Event, version: int, position: int) -> System:
    """The system after one more of its events, which the log has as `version` at `position`."""
    if isinstance(event, happened.SystemRegistered):
        return System(
            fqdn=fqdn,
            version=version,
            lab_controller=event.lab_controller,
            owner=event.owner,
            condition=event.condition,
            inventory=event.inventory,
            since=position,
        )
    assert system is not None, f"{fqdn} has events before it was registered"
    usage = getattr(event, "USAGE", None)
    if usage is None:
        return replace(system, version=version)
    recipe_id = getattr(event, "recipe_id", None)
    return replace(system, version=version, usage=usage, recipe_id=recipe_id, since=position)
