"""Conversion of the system in a request to a change."""

from __future__ import annotations

from dataclasses import fields

from api.rest.contract.inputs.systems import Changes, Properties
from api.use_cases.change_system import NewSystemValues


def change_of(changes: Changes) -> NewSystemValues:
    """Return the change: omitted fields stay, null removes a property."""
    given = changes.given()
    properties = {name: value for name, value in given.items() if name in Properties.model_fields}
    beside = {field.name: given[field.name] for field in fields(NewSystemValues) if field.name in given}
    return NewSystemValues(**beside, properties=properties)
