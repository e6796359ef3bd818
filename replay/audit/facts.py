"""What can be asked of a system, from its document: text has no case, and what is not known says so."""

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


class _OfASystem(dict[str, Any]):
    """Each is looked for in the document when somebody asks for it first: of most, nobody ever does."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document

    def __missing__(self, name: str) -> Any:
        value = self[name] = FACTS[name](self._document)
        return value


def facts_of(document: Document) -> Facts:
    """By name, each a value that can be a key. Sets (arches, pools, flags, keys, devices) are empty
    where nothing is known of them; of anything else None says so.
    """
    return _OfASystem(document)


def facts_of_disk(disk: tuple[Any, ...]) -> Facts:
    """Of one of the `disks`."""
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
    """The day in UTC: days as text stand in the order of time."""
    if not moment:
        return None
    at = datetime.fromisoformat(moment)
    return (at.astimezone(UTC) if at.tzinfo else at).date().isoformat()


def _keys(values: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Each value with its key; keys that differ in case alone are one."""
    return tuple(
        (key.casefold(), str(value).casefold()) for key, held in (values or {}).items() for value in held
    )


def _devices(devices: Any) -> tuple[tuple[tuple[str, str], ...], ...]:
    return tuple(map(_device, devices or ()))


def _device(device: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, str(device[name]).casefold()) for name in DEVICE_ATTRIBUTES if device.get(name) is not None
    )


# What is asked of one disk.
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


def _together(disks: Any) -> int | None:
    """The bytes of all disks; not known where there are none, or where one is not known."""
    sizes = [_whole(disk.get("size_bytes")) for disk in disks or ()]
    return None if None in sizes or not sizes else sum(size for size in sizes if size is not None)


def _exclusions(rows: Any) -> frozenset[tuple[str | None, ...]]:
    fields = ("arch", "family", "version")
    return frozenset(tuple(_text(row.get(field)) for field in fields) for row in rows or ())


def _provisioned(document: Document) -> bool | None:
    """Whether it can be switched on and off; that it cannot is never known of a system."""
    return True if document.get("power_type") and document.get("lab_controller") else None


def _installable(document: Document) -> tuple[frozenset[str], frozenset[tuple[str | None, ...]]]:
    """Its architectures, and what of them it is known not to run."""
    return _names(document.get("arches")), _exclusions(document.get("excluded_families"))


def _at(read: Callable[[Any], Any], *path: str) -> Callable[[Document], Any]:
    def fact(document: Document) -> Any:
        found: Any = document
        for step in path:
            found = found.get(step) if isinstance(found, Mapping) else None
        return read(found)

    return fact


FACTS: dict[str, Callable[[Document], Any]] = {
    "fqdn": _at(_text, "fqdn"),
    "lab": _at(_text, "lab_controller"),
    "condition": _at(_text, "condition"),
    "owner": _at(_text, "owner"),
    "user": _at(_text, "user"),
    "borrower": _at(_text, "loaned_to"),
    "type": _at(_text, "type"),
    "lender": _at(_text, "lender"),
    "vendor": _at(_text, "vendor"),
    "model": _at(_text, "model"),
    "location": _at(_text, "location"),
    "serial": _at(_text, "serial"),
    "power_type": _at(_text, "power_type"),
    "provisioned": _provisioned,
    "hypervisor": _at(_text, "hypervisor"),
    "memory_mb": _at(_whole, "memory_mb"),
    "numa_nodes": _at(_whole, "numa_nodes"),
    "processors": _at(_whole, "cpu", "processors"),
    "cores": _at(_whole, "cpu", "cores"),
    "sockets": _at(_whole, "cpu", "sockets"),
    "cpu_family": _at(_whole, "cpu", "family"),
    "cpu_model": _at(_whole, "cpu", "model"),
    "stepping": _at(_whole, "cpu", "stepping"),
    "speed_mhz": _at(_number, "cpu", "speed_mhz"),
    "cpu_vendor": _at(_text, "cpu", "vendor"),
    "model_name": _at(_text, "cpu", "model_name"),
    "hyper": _at(_truth, "cpu", "hyper"),
    "flags": _at(_names, "cpu", "flags"),
    "added": _at(_day, "added_at"),
    "inventoried": _at(_day, "last_inventoried_at"),
    "arches": _at(_names, "arches"),
    "pools": _at(_names, "pools"),
    "keys": _at(_keys, "key_values"),
    "devices": _at(_devices, "devices"),
    "disks": _at(_disks, "disks"),
    "disk_count": _at(lambda disks: len(disks or ()), "disks"),
    "disk_bytes": _at(_together, "disks"),
    "installable": _installable,
}
