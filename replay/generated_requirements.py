"""Requirements that a given system, or distro tree, is known to meet."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

Document = dict[str, Any]
MOST_QUESTIONS = 3


def distro_requires(tree: Document) -> Document:
    return {"and": [_leaf("distro_name", "=", tree["name"]), _leaf("distro_arch", "=", tree["arch"])]}


def host_requires(system: Document, chance: Random) -> Document:
    """Its arch, and up to three more things that are true of it."""
    possible = [made for question in QUESTIONS if (made := question(system))]
    asked = chance.sample(possible, min(len(possible), chance.randint(0, MOST_QUESTIONS)))
    return {"and": [_leaf("arch", "=", system["arches"][0]), *asked]}


def _leaf(element: str, op: str, value: object) -> Document:
    return {"element": element, "op": op, "value": str(value)}


def _disk(system: Document) -> Document | None:
    sizes = [disk["size_bytes"] for disk in system.get("disks") or ()]
    if not sizes:
        return None
    size = {"element": "size", "op": ">=", "value": str(max(sizes) // 10**9), "units": "GB"}
    return {"disk": [size]}


def _device(system: Document) -> Document | None:
    for device in system.get("devices") or ():
        return {"element": "device", "op": "=", "type": device["type"], "driver": device["driver"]}
    return None


def _pool(system: Document) -> Document | None:
    return next((_leaf("pool", "=", pool) for pool in system.get("pools") or ()), None)


def _flag(system: Document) -> Document | None:
    return next((_leaf("cpu/flag", "=", flag) for flag in system["cpu"]["flags"]), None)


# Each makes a question that the system answers with yes, or none.
QUESTIONS: tuple[Callable[[Document], Document | None], ...] = (
    lambda system: _leaf("memory", ">=", system["memory_mb"]),
    lambda system: _leaf("memory", "<=", system["memory_mb"] * 2),
    lambda system: _leaf("cpu_count", ">=", system["cpu"]["processors"]),
    lambda system: _leaf("cpu/sockets", ">=", system["cpu"]["sockets"]),
    lambda system: _leaf("diskcount", ">=", len(system["disks"])),
    lambda system: _leaf("hostname", "like", system["fqdn"].partition("-")[0] + "-%"),
    lambda system: {"not": [_leaf("hypervisor", "=", "KVM")]},
    lambda system: {"or": [_leaf("numa_node_count", ">=", system["numa_nodes"]), _leaf("memory", "<", 1024)]},
    _disk,
    _device,
    _pool,
    _flag,
)
