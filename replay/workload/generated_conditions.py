"""Conditions on recorded properties of a given system that it certainly satisfies, for host requirements."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

Document = dict[str, Any]
Made = Document | None
"""A condition, or None if the system lacks the property."""
ConditionMaker = Callable[[Document, Random], Made]


def leaf(element: str, op: str, value: object) -> Document:
    return {"element": element, "op": op, "value": str(value)}


def _property(system: Document, path: str) -> Any:
    found: Any = system
    for step in path.split("."):
        found = (found or {}).get(step)
    return found


def _compares(element: str, path: str, *ops: str) -> ConditionMaker:
    """Return a maker of conditions that compare a property with its own value."""

    def condition(system: Document, chance: Random) -> Made:
        value = _property(system, path)
        return None if value is None else leaf(element, chance.choice(ops), value)

    return condition


def _is_not(element: str, path: str, *others: str) -> ConditionMaker:
    """Return a maker of conditions that exclude another value, if the property is recorded."""

    def condition(system: Document, chance: Random) -> Made:
        value = _property(system, path)
        left = [other for other in others if value is not None and other != value]
        return leaf(element, "!=", chance.choice(left)) if left else None

    return condition


def _begins(element: str, path: str) -> ConditionMaker:
    """Return a maker of patterns from the first letters of a property, up to a dash."""

    def condition(system: Document, chance: Random) -> Made:
        value = _property(system, path)
        return leaf(element, "like", f"{value.partition('-')[0][:6]}%") if value else None

    return condition


def _among(element: str, path: str, *ops: str) -> ConditionMaker:
    def condition(system: Document, chance: Random) -> Made:
        value = _property(system, path)
        return leaf(element, chance.choice(ops), chance.choice(value)) if value else None

    return condition


def _memory(system: Document, chance: Random) -> Made:
    at_least = leaf("memory", ">=", system["memory_mb"])
    return chance.choice((at_least, leaf("system/memory", "<=", system["memory_mb"] * 2)))


def _day(element: str, path: str) -> ConditionMaker:
    def condition(system: Document, chance: Random) -> Made:
        value = _property(system, path)
        return leaf(element, chance.choice(("<=", ">=")), value[:10]) if value else None

    return condition


def _inventoried(system: Document, chance: Random) -> Made:
    op = "!=" if system.get("last_inventoried_at") else "="
    return leaf("system/last_inventoried", op, "")


def _in_pools(system: Document, chance: Random) -> Made:
    pools = system.get("pools") or ()
    if not pools:
        return leaf("pool", "=", "")
    return chance.choice((leaf("pool", "=", chance.choice(pools)), leaf("group", "!=", "")))


def _compatible(system: Document, chance: Random) -> Made:
    excluded = {one["family"] for one in system.get("excluded_families") or ()}
    left = [family for family in ("RedHatEnterpriseLinux10", "Fedora44") if family not in excluded]
    asked = {"arch": system["arches"][0], "osmajor": chance.choice(left)}
    return {"element": "system/compatible_with_distro", **asked}


def _biggest_disk(system: Document, chance: Random) -> Made:
    sizes = [disk["size_bytes"] for disk in system.get("disks") or ()]
    if not sizes:
        return None
    return {"disk": [leaf("size", ">=", max(sizes) // 10**9) | {"units": "GB"}]}


def _a_disk(system: Document, chance: Random) -> Made:
    disks = system.get("disks")
    if not disks:
        return None
    disk = chance.choice(disks)
    sector = leaf(chance.choice(("sector_size", "phys_sector_size")), ">=", "512")
    return {"disk": [leaf("model", "like", f"{disk['model'][:2]}%"), sector]}


def _all_disks(system: Document, chance: Random) -> Made:
    total = sum(disk["size_bytes"] for disk in system.get("disks") or ())
    return leaf("diskspace", ">=", total // 10**9) | {"units": "GB"} if total else None


def _device(system: Document, chance: Random) -> Made:
    for device in system.get("devices") or ():
        return {"element": "device", "op": "=", "type": device["type"], "driver": device["driver"]}
    return None


def _no_device(system: Document, chance: Random) -> Made:
    return {"element": "device", "op": "!=", "type": "SCSI", "driver": "qla2xxx"}


def _key(system: Document, chance: Random) -> Made:
    keys = system.get("key_values")
    if not keys:
        return None
    key = chance.choice(sorted(keys))
    asked = {"element": "key_value", "key": key}
    return asked | chance.choice(({"op": "="}, {"op": ">=", "value": keys[key][0]}))


def _person_or_memory(element: str) -> ConditionMaker:
    """Return a maker of conditions on a person that mostly fail, joined by `or` with one that holds."""

    def condition(system: Document, chance: Random) -> Made:
        return {"or": [leaf(element, "=", system["owner"]), _memory(system, chance)]}

    return condition


def _numa_nodes(system: Document, chance: Random) -> Made:
    return {"or": [leaf("numa_node_count", ">=", system["numa_nodes"]), leaf("memory", "<", 1024)]}


def _truth(system: Document, chance: Random) -> Made:
    hyper = _property(system, "cpu.hyper")
    return None if hyper is None else leaf("cpu/hyper", "=", str(hyper).lower())


CONDITIONS: tuple[ConditionMaker, ...] = (
    _memory,
    _compares("cpu_count", "cpu.processors", ">=", "<="),
    _compares("cpu/cores", "cpu.cores", ">=", "<="),
    _compares("cpu/sockets", "cpu.sockets", ">=", "="),
    _compares("cpu/family", "cpu.family", "="),
    _compares("cpu/model", "cpu.model", ">=", "<="),
    _compares("cpu/stepping", "cpu.stepping", ">=", "<="),
    _compares("cpu/speed", "cpu.speed_mhz", ">=", "<="),
    _compares("cpu/vendor", "cpu.vendor", "="),
    _begins("cpu/model_name", "cpu.model_name"),
    _truth,
    _among("cpu/flag", "cpu.flags", "=", "like"),
    _begins("hostname", "fqdn"),
    _is_not("system/type", "type", "Resource", "Prototype"),
    _is_not("system/status", "condition", "Broken", "Removed"),
    _compares("labcontroller", "lab_controller", "=", "<=", ">="),
    _compares("system/owner", "owner", "=", ">=", "<="),
    _person_or_memory("system/user"),
    _person_or_memory("system/loaned"),
    _is_not("system/lender", "lender", "Nobody"),
    _compares("system/vendor", "vendor", "="),
    _compares("system/model", "model", "=", ">="),
    _compares("system/location", "location", "<=", ">="),
    _begins("system/serial", "serial"),
    _compares("system/powertype", "power_type", "="),
    lambda system, chance: leaf("auto_prov", "=", "True") if system.get("power_type") else None,
    lambda system, chance: (
        {"not": [leaf("hypervisor", "=", "KVM")]} if system.get("hypervisor") == "" else None
    ),
    _numa_nodes,
    _day("system/added", "added_at"),
    _inventoried,
    _compatible,
    lambda system, chance: leaf("diskcount", ">=", len(system.get("disks") or ())),
    _biggest_disk,
    _a_disk,
    _all_disks,
    _device,
    _no_device,
    _in_pools,
    _key,
)
