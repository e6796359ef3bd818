"""Conversion of the changes of a system in a request to `NewSystemValues`."""

from __future__ import annotations

from dataclasses import fields

from api.rest.contract.inputs.systems import Changes, Properties
from api.use_cases.change_system import NewSystemValues


def change_of(changes: Changes) -> NewSystemValues:
    """Return the new values. Omitted fields stay unchanged, null removes a property."""
    given = changes.given()
    properties = {name: value for name, value in given.items() if name in Properties.model_fields}
    beside = {field.name: given[field.name] for field in fields(NewSystemValues) if field.name in given}
    return NewSystemValues(**beside, properties=properties)
