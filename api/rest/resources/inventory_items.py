"""Validation of systems to import, one by one, so that the answer has the faults of all; their changes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from typing import Any, NamedTuple

from pydantic import ValidationError

from api.intake.systems_csv import read_systems
from api.rest.body import check_model, parse_json
from api.rest.contract.faults import faults_of
from api.rest.contract.inputs.systems import MAX_IMPORTED, Changes, ManySystems, NamedSystem, Properties
from api.use_cases.change_system import NewSystemValues
from api.use_cases.import_systems import ImportItem, InputLocation
from domain.errors import Fault

NOTHING: frozenset[str] = frozenset()


class ImportedRows(NamedTuple):
    """The items with a valid fqdn, and all faults."""

    items: list[ImportItem]
    faults: list[Fault]


def read_json(body: bytes, added_at: str) -> ImportedRows:
    """Read a JSON body; `added_at` is the default of that field. Raises Unreadable and FaultyInput."""
    systems = check_model(parse_json(body), ManySystems).systems
    return _rows(
        ((InputLocation(f"systems[{number}]"), item) for number, item in enumerate(systems)), added_at
    )


def read_table(body: bytes, added_at: str) -> ImportedRows:
    """Read a table; `added_at` is the default of that field. Raises Unreadable and FaultyInput."""
    table = read_systems(body, MAX_IMPORTED)
    locations = (InputLocation(f"row {row}", ", column ") for row in table.rows)
    rows = _rows(zip(locations, table.systems, strict=True), added_at)
    return ImportedRows(rows.items, table.faults + rows.faults)


def _rows(systems: Iterable[tuple[InputLocation, Any]], added_at: str) -> ImportedRows:
    rows = ImportedRows([], [])
    for location, document in systems:
        try:
            rows.items.append(_item(location, document, added_at))
        except ValidationError as error:
            rows.faults.extend(map(location.locate, faults_of(error, NamedSystem)))
            # The names in the valid fields are checked too, if the fqdn is valid.
            with suppress(ValidationError):
                rows.items.append(_item(location, document, added_at, _faulty(error)))
    return rows


def _item(
    location: InputLocation, document: Any, added_at: str, faulty: frozenset[str] = NOTHING
) -> ImportItem:
    """Return the item without its `faulty` fields. Raises ValidationError."""
    valid = {name: document[name] for name in document if name not in faulty} if faulty else document
    system = NamedSystem.model_validate(valid)
    return ImportItem(location, system.fqdn, system.document(added_at=added_at), change_of(system), faulty)


def _faulty(error: ValidationError) -> frozenset[str]:
    found = error.errors(include_url=False, include_input=False)
    return frozenset(str(fault["loc"][0]) for fault in found if fault["loc"])


def change_of(changes: Changes) -> NewSystemValues:
    """Return the new values. Omitted fields stay unchanged, null removes a property."""
    given = changes.given()
    properties = {name: value for name, value in given.items() if name in Properties.model_fields}
    values = {field.name: given[field.name] for field in fields(NewSystemValues) if field.name in given}
    return NewSystemValues(**values, properties=properties)
