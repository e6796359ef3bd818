"""The items of an import, validated one by one, so that an answer has all faults."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import ValidationError

from api.intake.systems_csv import read_systems
from api.rest.body import check_model, parse_json
from api.rest.contract.faults import faults_of
from api.rest.contract.inputs.systems import MAX_IMPORTED, ManySystems, NamedSystem
from api.rest.resources.changes import change_of
from api.use_cases.importing import ImportItem, InputPlace
from domain.errors import Fault

NOTHING: frozenset[str] = frozenset()


class ImportedRows(NamedTuple):
    """The valid systems, and the faults of the others."""

    items: list[ImportItem]
    faults: list[Fault]


def read_json(body: bytes, moment: str) -> ImportedRows:
    """Read a JSON body; `moment` is the default of `added_at`. Raises Unreadable and FaultyInput."""
    systems = check_model(parse_json(body), ManySystems).systems
    return _rows(((InputPlace(f"systems[{number}]"), one) for number, one in enumerate(systems)), moment)


def read_table(body: bytes, moment: str) -> ImportedRows:
    """Read a table; `moment` is the default of `added_at`. Raises Unreadable and FaultyInput."""
    table = read_systems(body, MAX_IMPORTED)
    places = (InputPlace(f"row {row}", ", column ") for row in table.rows)
    rows = _rows(zip(places, table.systems, strict=True), moment)
    return ImportedRows(rows.items, table.faults + rows.faults)


def _rows(systems: Iterable[tuple[InputPlace, Any]], moment: str) -> ImportedRows:
    rows = ImportedRows([], [])
    for place, document in systems:
        try:
            rows.items.append(_item(place, document, moment))
        except ValidationError as error:
            rows.faults.extend(map(place.of, faults_of(error, NamedSystem)))
            # The names in the valid fields are checked too, if the fqdn is valid.
            with suppress(ValidationError):
                rows.items.append(_item(place, document, moment, _faulty(error)))
    return rows


def _item(place: InputPlace, document: Any, moment: str, faulty: frozenset[str] = NOTHING) -> ImportItem:
    """Return the item without its `faulty` fields. Raises ValidationError."""
    sound = {name: document[name] for name in document if name not in faulty} if faulty else document
    system = NamedSystem.model_validate(sound)
    return ImportItem(place, system.fqdn, system.document(added_at=moment), change_of(system), faulty)


def _faulty(error: ValidationError) -> frozenset[str]:
    found = error.errors(include_url=False, include_input=False)
    return frozenset(str(fault["loc"][0]) for fault in found if fault["loc"])
