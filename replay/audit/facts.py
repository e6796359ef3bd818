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
    "disk_bytes": _of(_together, "disks"),
    "installable": _installable,
}
