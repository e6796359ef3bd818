"""Answers about what systems are: exported, imported, and how it came to be so."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.rest.contract.answers.common import Answer, ListAnswer, Shape
from api.rest.contract.inputs.systems import Properties
from api.rest.contract.values import Condition, Time


class ExportedSystem(Properties):
    """As it can be imported again: every property, null where it is unknown."""

    fqdn: str
    lab_controller: str
    owner: str
    condition: Condition
    pools: list[str]


class InventoryList(ListAnswer):
    systems: list[ExportedSystem]


class PropertyChange(Shape):
    """What an object has is told by itself (`cpu.cores`). Null is unknown."""

    property: str
    before: Any = Field(alias="from")
    after: Any = Field(alias="to")


class ImportedSystem(Shape):
    fqdn: str
    added: bool
    changes: list[PropertyChange]


class InventoryTaken(Answer):
    """How many systems are new, became another, stay. `systems` tells of a dry run what would change."""

    added: int
    changed: int
    kept: int
    dry_run: bool
    systems: list[ImportedSystem]


class SystemChange(Shape):
    """One event: by whom, why, and what became another by it."""

    position: int
    at: Time
    topic: str
    actor: str
    cause: str
    reason: str | None
    changes: list[PropertyChange]


class SystemChanges(ListAnswer):
    """The latest first."""

    changes: list[SystemChange]
