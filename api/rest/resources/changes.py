"""From a system as a client sends it to what is to be true of it."""

from __future__ import annotations

from dataclasses import fields

from api.rest.contract.inputs.systems import Changes, Properties
from api.use_cases.change_system import SystemChange


def change_of(told: Changes) -> SystemChange:
    """What is left out stays, null forgets."""
    given = told.given()
    properties = {name: value for name, value in given.items() if name in Properties.model_fields}
    beside = {field.name: given[field.name] for field in fields(SystemChange) if field.name in given}
    return SystemChange(**beside, properties=properties)
