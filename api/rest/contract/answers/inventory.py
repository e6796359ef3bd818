"""Answers about the inventory of systems: export, import and changes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer
from api.rest.contract.inputs.systems import Properties
from api.rest.contract.values import Condition, Time


class ExportedSystem(Properties):
    """A system in the form that the import accepts: every property, null if it is unknown."""

    fqdn: str
    lab_controller: str
    owner: str
    condition: Condition
    pools: list[str]


class InventoryList(ListAnswer):
    systems: list[ExportedSystem]


class PropertyChange(AnswerPart):
    """A changed property; parts of an object are listed separately (`cpu.cores`). Null is unknown."""

    property: str
    before: Any = Field(alias="from")
    after: Any = Field(alias="to")


class ImportedSystem(AnswerPart):
    fqdn: str
    added: bool
    changes: list[PropertyChange]


class InventoryTaken(Answer):
    """Counts of added, changed and unchanged (`kept`) systems. `systems`: the changes of a dry run."""

    added: int
    changed: int
    kept: int
    dry_run: bool
    systems: list[ImportedSystem]


class SystemChange(AnswerPart):
    """An event that changed the system, with its actor, reason and changes."""

    position: int
    at: Time
    topic: str
    actor: str
    cause: str
    reason: str | None
    changes: list[PropertyChange]


class SystemChanges(ListAnswer):
    """Changes of a system, latest first."""

    changes: list[SystemChange]
