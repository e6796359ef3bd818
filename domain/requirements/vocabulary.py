"""The vocabularies of the requirement language, with one row for each element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from domain.requirements import inventory, operands
from domain.requirements.operands import Operand
from domain.requirements.operators import EQUALITY, EVERY, EVERY_OF_A_KEY, MATCHING, MATCHING_NAMES
from domain.requirements.property import Property
from domain.system.lifecycle import CONDITIONS

_VALUE: Final = ("value",)
_BYTES: Final = ("value", "units")


@dataclass(frozen=True)
class Element:
    """An element that compares the property `about`. The first spelling is canonical.

    `names` is the kind of name that the value is, if any. `empty_counts`: an empty text is an ordinary value.
    `empty_means_none`: an empty text selects systems without a value. `ignored`: the element has no effect.
    """

    spellings: tuple[str, ...]
    about: str
    operand: Operand = operands.text
    operators: tuple[str, ...] = EVERY
    attributes: tuple[str, ...] = _VALUE
    required: tuple[str, ...] = _VALUE
    empty_means_none: bool = False
    empty_counts: bool = False
    names: str | None = None
    ignored: bool = False


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The elements for systems, disks or distro trees, and the properties that they compare."""

    properties: Mapping[str, Property]
    elements: Mapping[str, Element]
    nested: Mapping[str, Vocabulary] = field(default_factory=dict)


def _by_spelling(*rows: Element) -> Mapping[str, Element]:
    return {spelling: row for row in rows for spelling in row.spellings}


DISK: Final = Vocabulary(
    properties=inventory.DISK,
    elements=_by_spelling(
        Element(("model",), "model", operators=MATCHING),
        Element(("size",), "size_bytes", operands.size_bytes, attributes=_BYTES),
        Element(("sector_size",), "sector_size", operands.size_bytes, attributes=_BYTES),
        Element(("phys_sector_size",), "phys_sector_size", operands.size_bytes, attributes=_BYTES),
    ),
)

SYSTEM: Final = Vocabulary(
    properties=inventory.SYSTEM,
    elements=_by_spelling(
        Element(("system_type", "system/type"), "type", operands.one_of(operands.SYSTEM_TYPES), MATCHING),
        # Old jobs have <host> instead of <hostname>.
        Element(("hostname", "system/name", "host"), "fqdn"),
        Element(("system/status",), "condition", operands.one_of(CONDITIONS), MATCHING),
        Element(("labcontroller", "hostlabcontroller"), "lab_controller", names="lab_controllers"),
        Element(("system/owner",), "owner", names="users"),
        Element(("system/user",), "user", names="users"),
        Element(("system/loaned",), "loaned_to", names="users"),
        Element(("system/lender",), "lender"),
        Element(("system/vendor",), "vendor"),
        Element(("system/model",), "model"),
        Element(("system/location",), "location"),
        Element(("system/serial",), "serial"),
        Element(("system/powertype",), "power_type", names="power_types"),
        # True for a system with a power type and a lab controller.
        Element(("auto_prov",), "auto_prov", operands.anything_but_no, ("==",)),
        Element(("memory", "system/memory"), "memory_mb", operands.whole),
        # Bare metal has no hypervisor: = "".
        Element(("hypervisor", "system/hypervisor"), "hypervisor", empty_counts=True),
        Element(("arch", "system/arch"), "arches", operators=MATCHING_NAMES, names="arches"),
        Element(
            ("system/compatible_with_distro",),
            "installable",
            operators=(),
            attributes=("arch", "osmajor", "osminor"),
            required=("arch", "osmajor"),
            names="arches",
        ),
        Element(("numa_node_count", "system/numanodes"), "numa_nodes", operands.whole),
        Element(("system/added",), "added_at", operands.day),
        # Never inventoried: = "". Inventoried at least once: != "".
        Element(
            ("system/last_inventoried",), "last_inventoried_at", operands.day_or_never, empty_means_none=True
        ),
        Element(("cpu/processors", "cpu_count"), "cpu.processors", operands.whole),
        Element(("cpu/cores",), "cpu.cores", operands.whole),
        Element(("cpu/sockets",), "cpu.sockets", operands.whole),
        Element(("cpu/family",), "cpu.family", operands.whole),
        Element(("cpu/model",), "cpu.model", operands.whole),
        Element(("cpu/stepping",), "cpu.stepping", operands.whole),
        Element(("cpu/speed",), "cpu.speed_mhz", operands.decimal),
        Element(("cpu/vendor",), "cpu.vendor"),
        Element(("cpu/model_name",), "cpu.model_name"),
        Element(("cpu/hyper",), "cpu.hyper", operands.truth, EQUALITY),
        Element(("cpu/flag",), "cpu.flags", operators=MATCHING),
        Element(("diskspace",), "disk_bytes", operands.size_bytes, attributes=_BYTES),
        Element(("diskcount",), "disk_count", operands.whole),
        # In no pool: = "". In any pool: != "".
        Element(("pool", "group"), "pools", operators=MATCHING_NAMES, empty_means_none=True, names="pools"),
        Element(
            ("key_value", "system/key_value"),
            "key_values",
            operators=EVERY_OF_A_KEY,
            attributes=("key", "value"),
            required=("key",),
            names="keys",
        ),
        Element(
            ("device",), "devices", operators=MATCHING, attributes=inventory.DEVICE_ATTRIBUTES, required=()
        ),
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
        Element(("tag", "distro_tag"), "tags", operators=MATCHING),
        Element(
            ("labcontroller", "distro_labcontroller", "distrolabcontroller"),
            "lab_controllers",
            operators=MATCHING_NAMES,
            names="lab_controllers",
        ),
        # Old jobs have these two elements, which never had an effect.
        Element(("virt", "distro_virt"), "name", ignored=True),
        Element(("method", "distro_method"), "name", ignored=True),
    ),
)
