"""The elements of the language: one row each. A new element is a new row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from domain.requirements import inventory, operands
from domain.requirements.operands import Operand
from domain.requirements.operators import EQUALITY, EVERY, MATCHING, ORDER


@dataclass(frozen=True)
class Element:
    """One question. The first of the spellings is kept; `names`: the value must be a known name of these."""

    spellings: tuple[str, ...]
    about: str
    operand: Operand = operands.text
    operators: tuple[str, ...] = EVERY
    attributes: tuple[str, ...] = ("value",)
    empty_means_none: bool = False
    names: str | None = None
    ignored: bool = False


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The elements that may be used about one kind of thing, and the properties they ask for."""

    properties: Mapping[str, inventory.Property]
    elements: Mapping[str, Element]
    not_yet: frozenset[str] = frozenset()
    nested: Mapping[str, Vocabulary] = field(default_factory=dict)

    def knows(self, spelling: str) -> bool:
        return spelling in self.elements or spelling in self.not_yet


def _by_spelling(*rows: Element) -> Mapping[str, Element]:
    return {spelling: row for row in rows for spelling in row.spellings}


def _under(group: str, names: Iterable[str]) -> set[str]:
    return {f"{group}/{name}" for name in names}


DISK: Final = Vocabulary(
    properties=inventory.DISK,
    elements=_by_spelling(
        Element(("size",), "size_bytes", operands.size_bytes, attributes=("value", "units")),
    ),
    not_yet=frozenset({"model", "sector_size", "phys_sector_size"}),
)

SYSTEM: Final = Vocabulary(
    properties=inventory.SYSTEM,
    elements=_by_spelling(
        Element(("system_type", "system/type"), "type", operands.system_type, MATCHING),
        Element(("hostname", "system/name"), "fqdn"),
        Element(("memory", "system/memory"), "memory_mb", operands.whole),
        Element(("hypervisor", "system/hypervisor"), "hypervisor"),
        Element(("arch", "system/arch"), "arches", operators=EQUALITY, names="arches"),
        Element(("numa_node_count", "system/numanodes"), "numa_nodes", operands.whole),
        # Nobody has looked at the system yet: = "". Somebody has: != "".
        Element(
            ("system/last_inventoried",), "last_inventoried_at", operands.day, ORDER, empty_means_none=True
        ),
        Element(("cpu/processors", "cpu_count"), "cpu.processors", operands.whole),
        Element(("cpu/cores",), "cpu.cores", operands.whole),
        Element(("cpu/sockets",), "cpu.sockets", operands.whole),
        Element(("cpu/flag",), "cpu.flags", operators=MATCHING),
        Element(("diskcount",), "disk_count", operands.whole),
        # In no pool at all: = "". In any: != "".
        Element(("pool",), "pools", operators=EQUALITY, empty_means_none=True, names="pools"),
        Element(("key_value",), "key_values", attributes=("key", "value"), names="keys"),
        Element(("device",), "devices", operators=MATCHING, attributes=inventory.DEVICE_ATTRIBUTES),
    ),
    not_yet=frozenset(
        _under(
            "system", ("status", "lender", "vendor", "model", "location", "serial", "owner", "user", "loaned")
        )
        | _under("system", ("powertype", "added", "compatible_with_distro"))
        | _under("cpu", ("family", "model", "stepping", "speed", "vendor", "model_name", "hyper"))
        | {"diskspace", "group", "labcontroller", "hostlabcontroller", "auto_prov", "host"}
    ),
    nested={"disk": DISK},
)

DISTRO_TREE: Final = Vocabulary(
    properties=inventory.DISTRO_TREE,
    elements=_by_spelling(
        Element(("name", "distro_name"), "name"),
        Element(("family", "distro_family"), "family"),
        Element(("variant", "distro_variant"), "variant"),
        Element(("arch", "distro_arch"), "arch"),
        Element(("tag", "distro_tag"), "tags", operators=EQUALITY),
        # Old jobs carry these two; they never chose anything.
        Element(("virt", "distro_virt"), "name", ignored=True),
        Element(("method", "distro_method"), "name", ignored=True),
    ),
    not_yet=frozenset({"labcontroller", "distro_labcontroller"}),
)
