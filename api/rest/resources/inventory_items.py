"""The items of an import, validated one by one, so that all faults are found."""

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
from api.use_cases.importing import Item, Place
from domain.errors import Fault

NOTHING: frozenset[str] = frozenset()


class Told(NamedTuple):
    """The valid systems, and the faults of the others."""

    items: list[Item]
    faults: list[Fault]


def read_json(body: bytes, moment: str) -> Told:
    """Read a JSON body; `moment` is the default of `added_at`. Raises Unreadable and FaultyInput."""
    systems = check_model(parse_json(body), ManySystems).systems
    return _told(((Place(f"systems[{number}]"), one) for number, one in enumerate(systems)), moment)


def read_table(body: bytes, moment: str) -> Told:
    """Read a table; `moment` is the default of `added_at`. Raises Unreadable and FaultyInput."""
    table = read_systems(body, MAX_IMPORTED)
    places = (Place(f"row {row}", ", column ") for row in table.rows)
    told = _told(zip(places, table.systems, strict=True), moment)
    return Told(told.items, table.faults + told.faults)


def _told(systems: Iterable[tuple[Place, Any]], moment: str) -> Told:
    told = Told([], [])
    for place, document in systems:
        try:
            told.items.append(_item(place, document, moment))
        except ValidationError as error:
            told.faults.extend(map(place.of, faults_of(error, NamedSystem)))
            # The names in the valid fields are checked too, if the fqdn is valid.
            with suppress(ValidationError):
                told.items.append(_item(place, document, moment, _faulty(error)))
    return told


def _item(place: Place, document: Any, moment: str, faulty: frozenset[str] = NOTHING) -> Item:
    """Return the item without its `faulty` fields. Raises ValidationError."""
    sound = {name: document[name] for name in document if name not in faulty} if faulty else document
    system = NamedSystem.model_validate(sound)
    return Item(place, system.fqdn, system.document(added_at=moment), change_of(system), faulty)


def _faulty(error: ValidationError) -> frozenset[str]:
    found = error.errors(include_url=False, include_input=False)
    return frozenset(str(fault["loc"][0]) for fault in found if fault["loc"])
