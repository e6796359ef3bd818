"""Beaker's CSV files of systems and groups, in the columns that Beaker exports.

Reading such a file again gives the same systems and groups.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from api.intake.beaker_columns import (
    COLUMN_KEYS,
    CSV_TYPE,
    EXCLUDE,
    FALSE,
    KEY_VALUE,
    KINDS,
    LABINFO,
    POWER,
    SYSTEM,
    SYSTEM_POOL,
    TRUE,
    USER_GROUP,
    BeakerColumn,
)

POWER_PARTS: Final = {
    "power_address": "address",
    "power_user": "user",
    "power_id": "port",
    "power_type": "type",
}
Document = Mapping[str, Any]
Cells = dict[str, str]


def header(kind: str) -> str:
    return _text([(CSV_TYPE, *KINDS[kind].exported)])


def rows(kind: str, items: Iterable[Document]) -> str:
    """Return the rows of systems, or of groups for USER_GROUP, in the form of `GET`, without a header.

    For POWER each system has its power settings as `power`, None without any.
    """
    columns = KINDS[kind].exported
    return _text(
        [kind, *(cells.get(column, "") for column in columns)]
        for item in items
        for cells in _ROWS[kind](item)
    )


def _text(table: Iterable[Iterable[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(table)
    return text.getvalue()


def _system(system: Document) -> Iterator[Cells]:
    yield _cells(SYSTEM, system)


def _labinfo(system: Document) -> Iterator[Cells]:
    """Yield a row unless all columns are empty; so does Beaker for a system without lab information."""
    cells = _cells(LABINFO, system)
    if any(cell for column, cell in cells.items() if column != "fqdn"):
        yield cells


def _cells(kind: str, system: Document) -> Cells:
    found = ((name, _cell(column, system)) for name, column in KINDS[kind].columns.items())
    return {name: cell for name, cell in found if cell}


def _cell(column: BeakerColumn, system: Document) -> str:
    value = system.get(column.property) if column.property else _single(system, column.key)
    return "" if value is None else column.cell.write(value)


def _single(system: Document, key: str) -> str | None:
    """Return the only value of a key; a key with several values is a matter of KEY_VALUE."""
    values: list[str] = (system.get("key_values") or {}).get(key) or []
    return values[0] if len(values) == 1 else None


def _key_values(system: Document) -> Iterator[Cells]:
    held = system.get("key_values") or {}
    for key in sorted(held):
        if key not in COLUMN_KEYS or _single(system, key) is None:
            # Beaker has no empty values.
            for value in filter(None, held[key] or ()):
                yield {"fqdn": system["fqdn"], "key": key, "key_value": value, "deleted": FALSE}


def _exclusions(system: Document) -> Iterator[Cells]:
    for each in system.get("excluded_families") or ():
        yield {
            "fqdn": system["fqdn"],
            "arch": each["arch"],
            "family": each["family"],
            "update": each.get("version") or "",
            "excluded": TRUE,
        }


def _pools(system: Document) -> Iterator[Cells]:
    for pool in sorted(system["pools"]):
        yield {"fqdn": system["fqdn"], "pool": pool, "deleted": FALSE}


def _power(system: Document) -> Iterator[Cells]:
    """Yield the settings without the secret, which nobody gets but the lab controller."""
    power = system.get("power")
    if power is not None:
        cells = {name: power[part] or "" for name, part in POWER_PARTS.items()}
        yield {"fqdn": system["fqdn"], **cells}


def _members(group: Document) -> Iterator[Cells]:
    for user in sorted(group["members"]):
        yield {"user": user, "group": group["name"], "deleted": FALSE}


_ROWS: Final[Mapping[str, Callable[[Document], Iterator[Cells]]]] = {
    SYSTEM: _system,
    LABINFO: _labinfo,
    KEY_VALUE: _key_values,
    EXCLUDE: _exclusions,
    SYSTEM_POOL: _pools,
    POWER: _power,
    USER_GROUP: _members,
}
