"""The elements of a host requirement, by spelling, each with the reader of its test of a system or a disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from replay.audit import leaves
from replay.audit.comparisons import COMPARE
from replay.audit.facts import DEVICE_ATTRIBUTES
from replay.audit.leaves import EQUALITY, Condition, Form, Predicate, UnknownLeaf

ALL = (*COMPARE, "like")
MATCHING = (*EQUALITY, "like")
MATCHING_NAMES = (*MATCHING, leaves.OTHER)
VALUE = ("value",)
SIZE = ("value", "units")

Reader = Callable[[str, str, Form], Predicate | None]


class Element(NamedTuple):
    """The reader of a leaf, the fact that it reads, and the operators and attributes that it accepts."""

    read: Reader
    fact: str
    ops: tuple[str, ...] = ALL
    attributes: tuple[str, ...] = VALUE


Elements = Mapping[str, Element]


def _by_spelling(rows: Mapping[tuple[str, ...], Element]) -> Elements:
    return {spelling: element for spellings, element in rows.items() for spelling in spellings}


SYSTEM_ELEMENTS = _by_spelling(
    {
        ("system_type", "system/type"): Element(leaves.text, "type", MATCHING),
        ("system/status",): Element(leaves.text, "condition", MATCHING),
        ("hostname", "system/name", "host"): Element(leaves.text, "fqdn"),
        ("labcontroller", "hostlabcontroller"): Element(leaves.text, "lab"),
        ("system/owner",): Element(leaves.text, "owner"),
        ("system/user",): Element(leaves.text, "user"),
        ("system/loaned",): Element(leaves.text, "borrower"),
        ("system/lender",): Element(leaves.text, "lender"),
        ("system/vendor",): Element(leaves.text, "vendor"),
        ("system/model",): Element(leaves.text, "model"),
        ("system/location",): Element(leaves.text, "location"),
        ("system/serial",): Element(leaves.text, "serial"),
        ("system/powertype",): Element(leaves.text, "power_type"),
        ("auto_prov",): Element(leaves.yes, "provisioned", ("==",)),
        ("hypervisor", "system/hypervisor"): Element(leaves.text, "hypervisor"),
        ("memory", "system/memory"): Element(leaves.whole, "memory_mb"),
        ("numa_node_count", "system/numanodes"): Element(leaves.whole, "numa_nodes"),
        ("cpu/processors", "cpu_count"): Element(leaves.whole, "processors"),
        ("cpu/cores",): Element(leaves.whole, "cores"),
        ("cpu/sockets",): Element(leaves.whole, "sockets"),
        ("cpu/family",): Element(leaves.whole, "cpu_family"),
        ("cpu/model",): Element(leaves.whole, "cpu_model"),
        ("cpu/stepping",): Element(leaves.whole, "stepping"),
        ("cpu/speed",): Element(leaves.number, "speed_mhz"),
        ("cpu/vendor",): Element(leaves.text, "cpu_vendor"),
        ("cpu/model_name",): Element(leaves.text, "model_name"),
        ("cpu/hyper",): Element(leaves.truth, "hyper", EQUALITY),
        ("cpu/flag",): Element(leaves.member, "flags", MATCHING),
        ("arch", "system/arch"): Element(leaves.member, "arches", MATCHING_NAMES),
        ("pool", "group"): Element(leaves.member_or_none, "pools", MATCHING_NAMES),
        ("system/added",): Element(leaves.day, "added"),
        ("system/last_inventoried",): Element(leaves.day_or_never, "inventoried"),
        ("system/compatible_with_distro",): Element(
            leaves.compatible, "installable", ("==",), ("arch", "osmajor", "osminor")
        ),
        ("key_value", "system/key_value"): Element(
            leaves.keyed, "keys", (*ALL, leaves.OTHER), ("key", "value")
        ),
        ("device",): Element(leaves.device, "devices", MATCHING, DEVICE_ATTRIBUTES),
        ("diskcount",): Element(leaves.whole, "disk_count"),
        ("diskspace",): Element(leaves.size, "disk_bytes", ALL, SIZE),
    }
)

DISK_ELEMENTS = _by_spelling(
    {
        ("model",): Element(leaves.text, "model"),
        ("size",): Element(leaves.size, "size_bytes", ALL, SIZE),
        ("sector_size",): Element(leaves.size, "sector_size", ALL, SIZE),
        ("phys_sector_size",): Element(leaves.size, "phys_sector_size", ALL, SIZE),
    }
)


def read_leaf(form: Form, elements: Elements) -> Condition | None:
    """Return the condition of a leaf, None if it is empty. Raises UnknownLeaf."""
    element = elements.get(form["element"])
    op = form.get("op", "==")
    op = "==" if op == "=" else op
    if element is None or op not in element.ops or set(form) - {"element", "op", *element.attributes}:
        raise UnknownLeaf(f"{dict(form)}")
    holds = element.read(element.fact, op, form)
    return None if holds is None else Condition(frozenset({element.fact}), holds)
