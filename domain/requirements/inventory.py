"""Properties: what can be asked of a system, a disk or a distro tree, and where its document keeps it.

A reader answers with the values the property has, folded: none (unknown), one, or of a set all there are.
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

DEVICE_ATTRIBUTES: Final = (
    "type",
    "bus",
    "driver",
    "vendor_id",
    "device_id",
    "subsys_vendor_id",
    "subsys_device_id",
    "description",
)
DISK_ATTRIBUTES: Final = ("model", "size_bytes", "sector_size", "phys_sector_size")


@dataclass(frozen=True)
class Property:
    """A set that is empty or missing is known to hold nothing; anything else that is missing is unknown."""

    read: Callable[[Inventory], Values]
    many: bool = False


def dig(inventory: Inventory, path: tuple[str, ...]) -> Any:
    """The value at a path, None where any step of it is missing."""
    found: Any = inventory
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _one(kind: type, path: tuple[str, ...], inventory: Inventory) -> Values:
    value = dig(inventory, path)
    return (fold(value),) if isinstance(value, kind) and not isinstance(value, bool) else ()


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
    """The whole list as one value, so that systems of equal make are tested once."""
    records = inventory.get(field)
    return () if records is None else (tuple(_record(record, attributes) for record in records),)


def _record(record: Mapping[str, Any], attributes: tuple[str, ...]) -> Record:
    return tuple((name, fold(record[name])) for name in attributes if record.get(name) is not None)


def _count(field: str, inventory: Inventory) -> Values:
    return (len(inventory.get(field) or ()),)


def text(*path: str) -> Property:
    return Property(partial(_one, str, path))


def number(*path: str) -> Property:
    return Property(partial(_one, int, path))


def members(*path: str) -> Property:
    return Property(partial(_members, path), many=True)


SYSTEM: Final[Mapping[str, Property]] = {
    "fqdn": text("fqdn"),
    "type": text("type"),
    "memory_mb": number("memory_mb"),
    "hypervisor": text("hypervisor"),
    "numa_nodes": number("numa_nodes"),
    "arches": members("arches"),
    "pools": members("pools"),
    "cpu.processors": number("cpu", "processors"),
    "cpu.cores": number("cpu", "cores"),
    "cpu.sockets": number("cpu", "sockets"),
    "cpu.flags": members("cpu", "flags"),
    "last_inventoried_at": Property(partial(_day, "last_inventoried_at")),
    "key_values": Property(partial(_keyed, "key_values"), many=True),
    "devices": Property(partial(_records, "devices", DEVICE_ATTRIBUTES)),
    "disks": Property(partial(_records, "disks", DISK_ATTRIBUTES)),
    "disk_count": Property(partial(_count, "disks")),
}

DISK: Final[Mapping[str, Property]] = {"size_bytes": number("size_bytes")}

DISTRO_TREE: Final[Mapping[str, Property]] = {
    "name": text("name"),
    "family": text("family"),
    "variant": text("variant"),
    "arch": text("arch"),
    "tags": members("tags"),
}
