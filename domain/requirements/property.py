"""Properties of documents, with functions that read their values.

A reader returns the folded values of a property: () if unknown, one value, or all members of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeAlias

from domain.requirements.operators import fold

Inventory: TypeAlias = Mapping[str, Any]
Values: TypeAlias = tuple[Hashable, ...]
Record: TypeAlias = tuple[tuple[str, str | int], ...]

EXCLUSION_ATTRIBUTES: Final = ("arch", "family", "version")


@dataclass(frozen=True)
class Property:
    """A property of a document. `read` depends only on the `fields` of the document.

    `many` is True for a list: a missing one counts as empty, any other missing value is unknown.
    """

    read: Callable[[Inventory], Values]
    fields: tuple[str, ...]
    many: bool = False


def dig(inventory: Inventory, path: tuple[str, ...]) -> Any:
    """Return the value at a path, None if any step is missing."""
    found: Any = inventory
    # Called for every system of a lab: `isinstance` with an abstract class would be slow.
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _text(path: tuple[str, ...], inventory: Inventory) -> Values:
    value = dig(inventory, path)
    return (value.casefold(),) if isinstance(value, str) else ()


def _whole(path: tuple[str, ...], inventory: Inventory) -> Values:
    """Return a whole number; `bool` does not count, although it is a subclass of `int`."""
    value = dig(inventory, path)
    return (value,) if type(value) is int else ()


def _decimal(path: tuple[str, ...], inventory: Inventory) -> Values:
    value = dig(inventory, path)
    return (float(value),) if isinstance(value, int | float) and not isinstance(value, bool) else ()


def _flag(path: tuple[str, ...], inventory: Inventory) -> Values:
    value = dig(inventory, path)
    return (value,) if isinstance(value, bool) else ()


def _members(path: tuple[str, ...], inventory: Inventory) -> Values:
    return tuple(sorted({fold(member) for member in dig(inventory, path) or () if isinstance(member, str)}))


def _day(field: str, inventory: Inventory) -> Values:
    written = inventory.get(field)
    if not written:
        return ()
    moment = datetime.fromisoformat(written)
    return ((moment if moment.tzinfo is None else moment.astimezone(UTC)).date().isoformat(),)


def _keyed(field: str, inventory: Inventory) -> Values:
    keyed = inventory.get(field) or {}
    return tuple(sorted({(fold(key), fold(str(value))) for key, values in keyed.items() for value in values}))


def _records(field: str, attributes: tuple[str, ...], inventory: Inventory) -> Values:
    """Return the whole list as one value, so that systems with equal lists are tested once."""
    records = inventory.get(field)
    return () if records is None else (tuple(_record(record, attributes) for record in records),)


def _record(record: Mapping[str, Any], attributes: tuple[str, ...]) -> Record:
    return tuple((name, fold(record[name])) for name in attributes if record.get(name) is not None)


def _count(field: str, inventory: Inventory) -> Values:
    return (len(inventory.get(field) or ()),)


def _total(field: str, attribute: str, inventory: Inventory) -> Values:
    """Return the sum of an attribute, unknown without records or if a record lacks the attribute."""
    parts = [record.get(attribute) for record in inventory.get(field) or ()]
    return (sum(parts),) if parts and None not in parts else ()


def _provisioned(inventory: Inventory) -> Values:
    """Return True if a lab controller can control the power of the system; otherwise it is unknown."""
    return (True,) if inventory.get("power_type") and inventory.get("lab_controller") else ()


def _installable(inventory: Inventory) -> Values:
    """Return the arches and exclusions of a system as one value; a missing list counts as empty."""
    exclusions = inventory.get("excluded_families") or ()
    excluded = {tuple(_record(each, EXCLUSION_ATTRIBUTES)) for each in exclusions}
    return ((_members(("arches",), inventory), tuple(sorted(excluded))),)


def _having_urls(field: str, inventory: Inventory) -> Values:
    urls = inventory.get(field) or {}
    return tuple(sorted({fold(name) for name in urls if urls[name]}))


def text(*path: str) -> Property:
    return Property(partial(_text, path), path[:1])


def number(*path: str) -> Property:
    return Property(partial(_whole, path), path[:1])


def decimal(*path: str) -> Property:
    return Property(partial(_decimal, path), path[:1])


def flag(*path: str) -> Property:
    return Property(partial(_flag, path), path[:1])


def day(field: str) -> Property:
    return Property(partial(_day, field), (field,))


def members(*path: str) -> Property:
    return Property(partial(_members, path), path[:1], many=True)


def keyed(field: str) -> Property:
    return Property(partial(_keyed, field), (field,), many=True)


def records(field: str, attributes: tuple[str, ...]) -> Property:
    return Property(partial(_records, field, attributes), (field,))


def count(field: str) -> Property:
    return Property(partial(_count, field), (field,))


def total(field: str, attribute: str) -> Property:
    return Property(partial(_total, field, attribute), (field,))


def having_urls(field: str) -> Property:
    return Property(partial(_having_urls, field), (field,), many=True)


AUTO_PROV: Final = Property(_provisioned, ("power_type", "lab_controller"))
INSTALLABLE: Final = Property(_installable, ("arches", "excluded_families"))
