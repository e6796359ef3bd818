"""What is known of a system changes: its inventory, its lab, its owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.errors import Refused
from domain.events import Decided
from domain.system.events import (
    SystemInventoryChanged,
    SystemLabControllerChanged,
    SystemOwnerChanged,
)
from domain.system.state import System


def change_inventory(system: System, changes: Mapping[str, Any]) -> Decided:
    """`changes` are properties with their new values; None forgets one. Nothing if all of it is known."""
    inventory = {**system.inventory, **changes}
    inventory = {name: value for name, value in inventory.items() if value is not None}
    if inventory == dict(system.inventory):
        return []
    return [(system.subject, SystemInventoryChanged(inventory=inventory))]


def move_to_lab(system: System, lab_controller: str) -> Decided:
    """Raises Refused while somebody has the system: a recipe set stays in one lab."""
    if system.lab_controller == lab_controller:
        return []
    if system.recipe_id is not None or system.reservation is not None:
        raise Refused(f"{system.subject} is {system.usage}: it cannot change its lab now")
    return [(system.subject, SystemLabControllerChanged(lab_controller=lab_controller))]


def change_owner(system: System, owner: str) -> Decided:
    if system.owner == owner:
        return []
    return [(system.subject, SystemOwnerChanged(owner=owner))]
