"""Changes of a system's inventory, lab and owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.errors import Refused
from domain.events import Decided
from domain.system.events import SystemInventoryChanged, SystemLabControllerChanged, SystemOwnerChanged
from domain.system.state import System


def change_inventory(system: System, changes: Mapping[str, Any]) -> Decided:
    """Return the event of the inventory with `changes` merged into it, none if nothing changes."""
    inventory = without_empty_cpu(merged(system.inventory, changes))
    if inventory == without_empty_cpu(system.inventory):
        return []
    return [(system.subject, SystemInventoryChanged(inventory=inventory))]


def merged(inventory: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inventory with changes merged as in RFC 7396: None removes a property."""
    result = dict(inventory)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping):
            inner = inventory.get(name)
            result[name] = merged(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[name] = value
    return result


def without_empty_cpu(inventory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inventory without an empty `cpu`, so that an unknown CPU has only one representation."""
    return {name: value for name, value in inventory.items() if name != "cpu" or value}


def move_to_lab(system: System, lab_controller: str) -> Decided:
    """Return the event of a move, none if already there. Raises Refused while a recipe or person has it."""
    if system.lab_controller == lab_controller:
        return []
    if system.recipe_id is not None or system.reservation is not None:
        raise Refused(f"system {system.fqdn} is {system.usage} and cannot change its lab now")
    return [(system.subject, SystemLabControllerChanged(lab_controller=lab_controller))]


def change_owner(system: System, owner: str) -> Decided:
    if system.owner == owner:
        return []
    return [(system.subject, SystemOwnerChanged(owner=owner))]
