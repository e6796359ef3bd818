"""The meaning of each element with each operator, for systems with the property, without it, or unknown.

The table is written by hand from the job language, not generated from the vocabulary; a test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Inventory = Mapping[str, Any]
Rows = list[tuple[str, Any, bool]]
"""Operator, value as written, and the answer."""

UNKNOWN: Mapping[str, None] = {}
"""A missing property: neither a question nor its negation is true."""

HAS_NONE = {"==": False, "!=": True, "like": False}
"""A missing list counts as empty: `!=` is true for it."""

TEXT: Rows = [
    ("=", "Dell", True), ("==", "DELL", True), ("=", "HPE", False), ("=", "", False),
    ("!=", "dell", False), ("!=", "HPE", True), ("!=", "", True),
    ("like", "d%", True), ("like", "%E%", True), ("like", "D_ll", True),
    ("like", "d", False), ("like", "%x", False),
    (">", "apple", True), (">", "dell", False), (">=", "DELL", True), (">=", "e", False),
    ("<", "Z", True), ("<", "dell", False), ("<=", "dell", True), ("<=", "cherry", False),
]  # fmt: skip
NUMBER: Rows = [
    ("=", 8, True), ("==", "8", True), ("=", 7, False), ("!=", 8, False), ("!=", "7", True),
    (">", 7, True), (">", 8, False), (">=", "8", True), (">=", 9, False),
    ("<", 9, True), ("<", 8, False), ("<=", 8, True), ("<=", -1, False),
    ("like", "8", True), ("like", "%", True), ("like", "8%", True),
    ("like", "_8", False), ("like", "1%", False),
]  # fmt: skip
ZERO: Rows = [
    ("=", 0, True),
    ("!=", 0, False),
    (">=", 0, True),
    (">", 0, False),
    ("<", 1, True),
    ("like", "0", True),
]
DAY: Rows = [
    # The whole day counts, and days begin in UTC.
    ("=", "2026-10-01", True), ("==", "2026-10-02", False),
    ("!=", "2026-10-01", False), ("!=", "2026-09-30", True),
    (">", "2026-09-30", True), (">", "2026-10-01", False),
    (">=", "2026-10-01", True), (">=", "2026-10-02", False),
    ("<", "2026-10-02", True), ("<", "2026-10-01", False),
    ("<=", "2026-10-01", True), ("<=", "2026-09-30", False),
    ("like", "2026-10%", True), ("like", "%-01", True), ("like", "2025%", False),
]  # fmt: skip
BYTES: Rows = [
    ("=", 8000, True), ("!=", 8000, False), ("!=", 8001, True), (">", 7999, True), (">", 8000, False),
    (">=", 8000, True), (">=", 8001, False), ("<", 8001, True), ("<", 8000, False), ("<=", 8000, True),
    ("<=", 7999, False), ("like", "8%", True), ("like", "9%", False),
]  # fmt: skip
LAST_DAY = "2026-10-01T23:59:59Z"


@dataclass(frozen=True)
class ElementCase:
    """An element; `held` has rows for systems with the property.

    `lacks` has the answer, by operator, for the systems `lacking` it.
    """

    spellings: tuple[str, ...]
    held: list[tuple[Inventory, Rows]]
    lacking: list[Inventory]
    lacks: Mapping[str, bool | None] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)


def of(name: str, *spellings: str, value: Any = "Dell", rows: Rows = TEXT) -> ElementCase:
    return ElementCase(spellings, [({name: value}, rows)], [{}, {name: None}])


def always(name: str, *spellings: str, value: Any = "Dell", rows: Rows = TEXT) -> ElementCase:
    """Return a case for a property that every system here has."""
    return ElementCase(spellings, [({name: value}, rows)], [{name: None}])


def number(name: str, *spellings: str) -> ElementCase:
    return ElementCase(spellings, [({name: 8}, NUMBER), ({name: 0}, ZERO)], [{}, {name: None}])


def of_cpu(name: str, *spellings: str, held: list[tuple[Any, Rows]]) -> ElementCase:
    """Return a case for a property of the CPU: the CPU itself may be missing, or only the property."""
    other = {"cores": 2} if name != "cores" else {"sockets": 2}
    return ElementCase(
        spellings,
        [({"cpu": {name: value}}, rows) for value, rows in held],
        [{}, {"cpu": None}, {"cpu": other}, {"cpu": {**other, name: None}}],
    )


def listed(name: str, *spellings: str, value: list[str], rows: Rows) -> ElementCase:
    return ElementCase(spellings, [({name: value}, rows)], [{}, {name: None}, {name: []}], HAS_NONE)


def on_disk(name: str, element: str, held: list[tuple[Any, Rows]]) -> ElementCase:
    """Return a case for a disk (`test_disk`)."""
    return ElementCase((element,), [({name: value}, rows) for value, rows in held], [{}, {name: None}])


WHOLE_CPU: list[tuple[Any, Rows]] = [(8, NUMBER), (0, ZERO)]
NAMES = {
    name: f"system/{name}" for name in ("owner", "user", "lender", "vendor", "model", "location", "serial")
}
ARCHES = ["x86_64", "i386"]
EXCLUDING = {
    "arches": ARCHES,
    "excluded_families": [
        {"arch": "x86_64", "family": "RHEL9", "version": "6"},
        {"arch": "i386", "family": "Fedora44", "version": None},
    ],
}
KEYS = {"key_values": {"HVM": ["1", "yes"], "CORES": ["12"]}}
DISKS = {"disks": [{"size_bytes": 3000}, {"size_bytes": 5000}]}

ELEMENTS = [
    always("fqdn", "hostname", "system/name", "host"),
    always("type", "system_type", "system/type", value="Laptop", rows=[
        ("=", "laptop", True), ("=", "Machine", False), ("!=", "Laptop", False), ("!=", "Resource", True),
        ("like", "lap%", True), ("like", "%chine", False),
    ]),
    of("condition", "system/status", value="Broken", rows=[
        ("=", "broken", True), ("=", "Automated", False), ("!=", "Broken", False), ("!=", "Manual", True),
        ("like", "Bro%", True), ("like", "Removed", False),
    ]),
    of("lab_controller", "labcontroller", "hostlabcontroller"),
    *(of(name, spelling) for name, spelling in NAMES.items()),
    of("loaned_to", "system/loaned"),
    of("power_type", "system/powertype"),
    number("memory_mb", "memory", "system/memory"),
    number("numa_nodes", "numa_node_count", "system/numanodes"),
    # Bare metal has an empty hypervisor, which differs from an unknown one.
    ElementCase(("hypervisor", "system/hypervisor"), [
        ({"hypervisor": "Dell"}, TEXT),
        ({"hypervisor": ""}, [("=", "", True), ("!=", "", False), ("!=", "KVM", True), ("like", "%", True),
                              ("like", "_%", False), (">", "", False), ("<=", "", True)]),
    ], [{}, {"hypervisor": None}]),
    listed("arches", "arch", "system/arch", value=ARCHES, rows=[
        ("=", "X86_64", True), ("=", "i386", True), ("=", "s390x", False), ("!=", "i386", False),
        ("!=", "s390x", True), ("like", "x86%", True), ("like", "i3_6", True), ("like", "s%", False),
        ("other", "i386", False), ("other", "s390x", True),
    ]),
    listed("pools", "pool", "group", value=["big", "storage"], rows=[
        ("=", "BIG", True), ("=", "small", False), ("!=", "big", False), ("!=", "small", True),
        ("like", "s%", True), ("like", "%x%", False),
        ("other", "big", False), ("other", "small", True),
        # In none at all; in any.
        ("=", "", False), ("!=", "", True),
    ]),
    of("added_at", "system/added", value=LAST_DAY, rows=DAY),
    ElementCase(("system/last_inventoried",), [
        ({"last_inventoried_at": LAST_DAY}, [*DAY, ("=", "", False), ("!=", "", True)]),
        ({"last_inventoried_at": "2026-10-01T00:30:00+02:00"}, [
            ("=", "2026-09-30", True), (">=", "2026-10-01", False),
        ]),
    ], [{}, {"last_inventoried_at": None}]),
    of_cpu("processors", "cpu/processors", "cpu_count", held=WHOLE_CPU),
    *(of_cpu(name, f"cpu/{name}", held=WHOLE_CPU) for name in (
        "cores", "sockets", "family", "model", "stepping",
    )),
    of_cpu("speed_mhz", "cpu/speed", held=[
        (8.0, [*NUMBER, ("<", 8.5, True), (">", "7.9999", True)]),
        (2593.75, [
            ("=", "2593.75", True), ("!=", 2593.75, False), (">", 2593.7, True), ("like", "%.75", True),
        ]),
        (0, ZERO),
    ]),
    of_cpu("vendor", "cpu/vendor", held=[("Dell", TEXT)]),
    of_cpu("model_name", "cpu/model_name", held=[("Dell", TEXT)]),
    # `no` selects systems whose CPU is recorded without it.
    of_cpu("hyper", "cpu/hyper", held=[
        (True, [
            ("=", "true", True), ("=", "1", True), ("=", "FALSE", False), ("!=", True, False),
            ("!=", False, True),
        ]),
        (False, [("=", "0", True), ("=", True, False), ("!=", "True", True), ("!=", "false", False)]),
    ]),
    ElementCase(("cpu/flag",), [({"cpu": {"flags": ["vmx", "sse4_2"]}}, [
        ("=", "VMX", True), ("=", "svm", False), ("!=", "vmx", False), ("!=", "svm", True),
        ("like", "sse%", True), ("like", "avx%", False),
    ])], [{}, {"cpu": None}, {"cpu": {}}, {"cpu": {"flags": None}}, {"cpu": {"flags": []}}], HAS_NONE),
    ElementCase(("diskcount",), [
        ({"disks": [{}] * 8}, NUMBER), ({"disks": []}, ZERO), ({"disks": None}, ZERO), ({}, ZERO),
    ], []),
    # No disks, or a disk without a recorded size.
    ElementCase(("diskspace",), [(DISKS, [*BYTES]), ({"disks": [{"size_bytes": 0}]}, ZERO)], [
        {}, {"disks": None}, {"disks": []}, {"disks": [{}]},
        {"disks": [{"size_bytes": 5}, {"size_bytes": None}]},
    ]),
    # Any value but `no`: the system has a power type and a lab controller.
    ElementCase(("auto_prov",), [({"power_type": "ipmi", "lab_controller": "lab"}, [
        ("=", "True", True), ("==", "1", True), ("=", "yes", True), ("=", True, True),
    ])], [{}, {"power_type": None, "lab_controller": "lab"}, {"power_type": "", "lab_controller": "lab"}]),
    ElementCase(("key_value", "system/key_value"), [(KEYS, [
        ("=", "1", True), ("=", "YES", True), ("=", "2", False), ("!=", "1", False), ("!=", "2", True),
        ("like", "y%", True), ("like", "n%", False), (">", "0", True), (">", "yes", False), (">=", "1", True),
        ("<", 2, True), ("<=", "1", True), ("<=", "0", False), ("<", "0", False), (">=", "z", False),
        ("other", "1", False), ("other", "2", True),
    ])], [{}, {"key_values": None}, {"key_values": {}}],
          {**HAS_NONE, **dict.fromkeys((">", ">=", "<", "<="), False)}, {"key": "hvm"}),
]  # fmt: skip

DISK_ELEMENTS = [
    on_disk("model", "model", [("Dell", [row for row in TEXT if row[0] in ("=", "==", "!=", "like")])]),
    *(on_disk(name, element, [(8000, BYTES), (0, ZERO)]) for element, name in (
        ("size", "size_bytes"), ("sector_size", "sector_size"), ("phys_sector_size", "phys_sector_size"),
    )),
]  # fmt: skip
