"""What can be asked of a system, from its document: text has no case, and what is not known says so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Facts = Mapping[str, Any]

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


def facts_of(document: Mapping[str, Any]) -> Facts:
    """By name, each a value that can be a key. Sets (arches, pools, flags, keys, devices) are empty where
    nothing is known of them; of anything else None says so.
    """
    cpu = document.get("cpu") or {}
    disks = document.get("disks")
    return {
        "fqdn": _text(document.get("fqdn")),
        "type": _text(document.get("type")),
        "hypervisor": _text(document.get("hypervisor")),
        "memory_mb": _whole(document.get("memory_mb")),
        "numa_nodes": _whole(document.get("numa_nodes")),
        "processors": _whole(cpu.get("processors")),
        "cores": _whole(cpu.get("cores")),
        "sockets": _whole(cpu.get("sockets")),
        "inventoried": _day(document.get("last_inventoried_at")),
        "arches": _names(document.get("arches")),
        "pools": _names(document.get("pools")),
        "flags": _names(cpu.get("flags")),
        "keys": _keys(document.get("key_values") or {}),
        "devices": tuple(map(_device, document.get("devices") or ())),
        "disks": None if disks is None else tuple(_whole(disk.get("size_bytes")) for disk in disks),
        "disk_count": len(disks or ()),
    }


def _text(value: Any) -> str | None:
    return value.casefold() if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _names(values: Any) -> frozenset[str]:
    return frozenset(value.casefold() for value in values or () if isinstance(value, str))


def _day(moment: str | None) -> str | None:
    """The day in UTC: days as text stand in the order of time."""
    if not moment:
        return None
    at = datetime.fromisoformat(moment)
    return (at.astimezone(UTC) if at.tzinfo else at).date().isoformat()


def _keys(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Each value with its key; keys that differ in case alone are one."""
    return tuple((key.casefold(), str(value).casefold()) for key, held in values.items() for value in held)


def _device(device: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, str(device[name]).casefold()) for name in DEVICE_ATTRIBUTES if device.get(name) is not None
    )
