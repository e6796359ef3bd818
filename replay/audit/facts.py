"""Facts about a system, read from its document. Text is in lower case; an unrecorded fact is None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

Facts = Mapping[str, Any]
Document = Mapping[str, Any]

DEVICE_ATTRIBUTES = (
    "type",
    "bus",
    "driver",
    "vendor_id",
    "device_id",
    "subsys_vendor_id",
    "subsys_device_id",
    "description",
)


class _SystemFacts(dict[str, Any]):
    """Facts that are read from the document at first access, because most are never needed."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document

    def __missing__(self, name: str) -> Any:
        value = self[name] = FACTS[name](self._document)
        return value


def facts_of(document: Document) -> Facts:
    """Return hashable facts by name: collections are empty, any other None, if nothing is recorded."""
    return _SystemFacts(document)


def facts_of_disk(disk: tuple[Any, ...]) -> Facts:
    """Return the facts of one item of `disks`."""
    return dict(zip(DISK, disk, strict=True))


def _text(value: Any) -> str | None:
    return value.casefold() if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _names(values: Any) -> frozenset[str]:
    return frozenset(value.casefold() for value in values or () if isinstance(value, str))


def _day(moment: str | None) -> str | None:
    """Return the day in UTC as text, so that days sort by time."""
    if not moment:
        return None
    at = datetime.fromisoformat(moment)
    return (at.astimezone(UTC) if at.tzinfo else at).date().isoformat()


def _keys(values: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return each value with its key. Keys that differ in case only are equal."""
    return tuple(
        (key.casefold(), str(value).casefold())
        for key, entries in (values or {}).items()
        for value in entries
    )


def _devices(devices: Any) -> tuple[tuple[tuple[str, str], ...], ...]:
    return tuple(map(_device, devices or ()))


def _device(device: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, str(device[name]).casefold()) for name in DEVICE_ATTRIBUTES if device.get(name) is not None
    )


# The facts of one disk.
DISK: dict[str, Callable[[Any], Any]] = {
    "model": _text,
    "size_bytes": _whole,
    "sector_size": _whole,
    "phys_sector_size": _whole,
}


def _disks(disks: Any) -> tuple[tuple[Any, ...], ...] | None:
    if disks is None:
        return None
    return tuple(tuple(read(disk.get(name)) for name, read in DISK.items()) for disk in disks)


def _total_size(disks: Any) -> int | None:
    """Return the size of all disks, None if there are no disks or a size is not recorded."""
    sizes = [_whole(disk.get("size_bytes")) for disk in disks or ()]
    return None if None in sizes or not sizes else sum(size for size in sizes if size is not None)


def _exclusions(rows: Any) -> frozenset[tuple[str | None, ...]]:
    fields = ("arch", "family", "version")
    return frozenset(tuple(_text(row.get(field)) for field in fields) for row in rows or ())


def _provisioned(document: Document) -> bool | None:
    """Return True if the system can be switched on and off, otherwise None, for unknown."""
    return True if document.get("power_type") and document.get("lab_controller") else None


def _installable(document: Document) -> tuple[frozenset[str], frozenset[tuple[str | None, ...]]]:
    return _names(document.get("arches")), _exclusions(document.get("excluded_families"))


def _of(read: Callable[[Any], Any], name: str) -> Callable[[Document], Any]:
    return lambda document: read(document.get(name))


def _of_cpu(read: Callable[[Any], Any], name: str) -> Callable[[Document], Any]:
    return lambda document: read((document.get("cpu") or {}).get(name))


FACTS: dict[str, Callable[[Document], Any]] = {
    "fqdn": _of(_text, "fqdn"),
    "lab": _of(_text, "lab_controller"),
    "condition": _of(_text, "condition"),
    "owner": _of(_text, "owner"),
    "user": _of(_text, "user"),
    "borrower": _of(_text, "loaned_to"),
    "type": _of(_text, "type"),
    "lender": _of(_text, "lender"),
    "vendor": _of(_text, "vendor"),
    "model": _of(_text, "model"),
    "location": _of(_text, "location"),
    "serial": _of(_text, "serial"),
    "power_type": _of(_text, "power_type"),
    "provisioned": _provisioned,
    "hypervisor": _of(_text, "hypervisor"),
    "memory_mb": _of(_whole, "memory_mb"),
    "numa_nodes": _of(_whole, "numa_nodes"),
    "processors": _of_cpu(_whole, "processors"),
    "cores": _of_cpu(_whole, "cores"),
    "sockets": _of_cpu(_whole, "sockets"),
    "cpu_family": _of_cpu(_whole, "family"),
    "cpu_model": _of_cpu(_whole, "model"),
    "stepping": _of_cpu(_whole, "stepping"),
    "speed_mhz": _of_cpu(_number, "speed_mhz"),
    "cpu_vendor": _of_cpu(_text, "vendor"),
    "model_name": _of_cpu(_text, "model_name"),
    "hyper": _of_cpu(_truth, "hyper"),
    "flags": _of_cpu(_names, "flags"),
    "added": _of(_day, "added_at"),
    "inventoried": _of(_day, "last_inventoried_at"),
    "arches": _of(_names, "arches"),
    "pools": _of(_names, "pools"),
    "keys": _of(_keys, "key_values"),
    "devices": _of(_devices, "devices"),
    "disks": _of(_disks, "disks"),
    "disk_count": _of(lambda disks: len(disks or ()), "disks"),
    "disk_bytes": _of(_total_size, "disks"),
    "installable": _installable,
}
