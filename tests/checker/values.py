"""A recipe, a recipe set and a system as the records of a log have made them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tests.checker.record import Record


@dataclass(frozen=True)
class Recipe:
    """`wants` is the data of its first event. A guest has a host and is on its host's system."""

    recipe_id: int
    set_id: int
    host_id: int | None
    wants: Mapping[str, Any]
    state: str = "new"
    system: str | None = None
    lab: str | None = None

    @property
    def subject(self) -> str:
        return f"recipe/{self.recipe_id}"

    @property
    def is_guest(self) -> bool:
        return self.host_id is not None

    @cached_property
    def forced(self) -> str | None:
        """The system it names by force."""
        form = json.loads(self.wants["host_requires"])
        return form["force"].casefold() if "force" in form else None


@dataclass(frozen=True)
class RecipeSet:
    set_id: int
    priority: str
    submission: int
    recipe_ids: tuple[int, ...]


@dataclass(frozen=True)
class System:
    """`described` is where the log last changed what it is, beside what it does."""

    fqdn: str
    lab: str
    owner: str
    condition: str
    inventory: Mapping[str, Any]
    described: int
    usage: str = "idle"
    recipe_id: int | None = None
    draining: bool = False
    reserved: bool = False

    @property
    def subject(self) -> str:
        return f"system/{self.fqdn}"


def changed(system: System, record: Record) -> System:
    """A system after what is no usage."""
    match record.happened:
        case "drained" | "undrained":
            return replace(system, draining=record.happened == "drained")
        case "reservation-begun" | "reservation-ended":
            return replace(system, reserved=record.happened == "reservation-begun")
    described = replace(system, described=record.position)
    match record.happened:
        case "condition-changed":
            return replace(described, condition=record.data["condition"])
        case "inventory-changed":
            return replace(described, inventory=record.data["inventory"])
        case "lab-controller-changed":
            return replace(described, lab=record.data["lab_controller"])
        case "owner-changed":
            return replace(described, owner=record.data["owner"])
    return system
