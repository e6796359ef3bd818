"""Registration of a system in its lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.directory.events import PoolSystemAdded
from domain.directory.state import Directory
from domain.errors import Fault, unknown_name
from domain.events import Decided
from domain.system.events import SystemDrained, SystemPending, SystemRegistered
from domain.system.usage import is_automated
from domain.system_admin.inventory import without_empty_cpu

# The fields of a system document that are not part of the inventory.
NOT_INVENTORY = ("fqdn", "lab_controller", "owner", "condition", "pools")


def unknown_names(directory: Directory, document: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for each unknown name in a whole or partial document of a system."""
    faults = [
        Fault(field, unknown_name(kind, document[field]))
        for field, kind in (("lab_controller", "lab-controller"), ("owner", "user"))
        if field in document and directory.get(kind, document[field]) is None
    ]
    faults += [
        Fault(f"pools[{number}]", unknown_name("pool", name))
        for number, name in enumerate(document.get("pools", ()))
        if directory.get("pool", name) is None
    ]
    return faults


def register(document: Mapping[str, Any], drained: str | None = None) -> Decided:
    """Return the events of a new system: registration, addition to its pools, and pending if Automated.

    `drained` is the reason why the system takes nothing yet, None if it is not to be drained.
    """
    subject = f"system/{document['fqdn']}"
    registered = SystemRegistered(
        lab_controller=document["lab_controller"],
        owner=document["owner"],
        condition=document["condition"],
        inventory=without_empty_cpu(
            {name: value for name, value in document.items() if name not in NOT_INVENTORY}
        ),
    )
    decided: Decided = [(subject, registered)]
    decided += [
        (f"pool/{pool}", PoolSystemAdded(system=document["fqdn"]))
        for pool in dict.fromkeys(document["pools"])
    ]
    if drained is not None:
        decided.append((subject, SystemDrained(drained)))
    elif is_automated(document["condition"]):
        decided.append((subject, SystemPending()))
    return decided
