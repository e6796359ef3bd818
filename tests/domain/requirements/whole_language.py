"""Hypothesis strategies for requirements of the whole language, and for systems."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Forms = st.SearchStrategy[dict[str, Any]]

NUMBERS = ("=", "==", "!=", ">", ">=", "<", "<=")
TEXTS = (*NUMBERS, "like")
MATCH = ("=", "==", "!=", "like")
EQUAL = ("=", "==", "!=")

NAMES = ("alice", "Bob", "")
DAYS = ("2026-01-31", "2026-02-01")
ARCHES = ("x86_64", "i386")
FAMILIES = ("Fedora44", "RHEL9")
# Rare attributes of devices.
SELDOM = ("bus", "device_id", "subsys_vendor_id", "subsys_device_id", "description")


def maybe(*values: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of these values and null."""
    return st.sampled_from([None, *values])


def some(*members: str) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(st.sampled_from(members), unique=True, max_size=len(members))


MOMENT = maybe("2026-01-31T00:00:00Z", "2026-02-01T23:59:59Z")
CPU = st.fixed_dictionaries(
    {},
    optional={
        **{
            name: maybe(0, 1, 2) for name in ("processors", "cores", "sockets", "family", "model", "stepping")
        },
        "speed_mhz": maybe(2500.0, 2593.75, 0),
        "vendor": maybe("GenuineIntel", ""),
        "model_name": maybe("Xeon", "xeon gold"),
        "hyper": maybe(True, False),
        "flags": some("vmx", "SSE4_2"),
    },
)
DISK = st.fixed_dictionaries(
    {},
    optional={
        "model": maybe("ST500", "st4000"),
        "size_bytes": maybe(0, 1000, 2048, 3000),
        "sector_size": maybe(512, 4096),
        "phys_sector_size": maybe(512, 4096),
    },
)
DEVICE = st.fixed_dictionaries(
    {"type": maybe("NETWORK", "SCSI"), "driver": maybe("e1000", "E2"), "vendor_id": maybe("14e4", "8086")},
    optional={name: maybe("14e4", "x") for name in SELDOM},
)
EXCLUSION = st.fixed_dictionaries(
    {"arch": st.sampled_from(ARCHES), "family": st.sampled_from(FAMILIES)},
    optional={"version": maybe("6", "7")},
)
SYSTEMS = st.fixed_dictionaries(
    {"fqdn": st.sampled_from(["a.lab", "B.lab", "old-1"]), "type": st.sampled_from(["Machine", "Laptop"])},
    optional={
        "condition": st.sampled_from(["Automated", "Broken"]),
        "lab_controller": st.sampled_from(["lab.east", "Lab.West"]),
        **{
            field: maybe(*NAMES)
            for field in (
                *("owner", "user", "loaned_to", "lender", "vendor", "model", "location", "serial"),
                "power_type",
            )
        },
        "memory_mb": maybe(0, 4096, 8192),
        "hypervisor": maybe("", "KVM"),
        "numa_nodes": maybe(0, 1, 2),
        "arches": some(*ARCHES),
        "pools": some("big", "Small"),
        "excluded_families": st.none() | st.lists(EXCLUSION, max_size=2),
        "added_at": MOMENT,
        "last_inventoried_at": MOMENT,
        "cpu": st.none() | CPU,
        "disks": st.none() | st.lists(DISK, max_size=3),
        "devices": st.none() | st.lists(DEVICE, max_size=2),
        "key_values": st.none()
        | st.dictionaries(
            st.sampled_from(["HVM", "cores"]), st.lists(st.sampled_from(["1", "12", "-3", "yes"]), min_size=1)
        ),
    },
)
LABS = st.lists(SYSTEMS, max_size=6)


def leaves(elements: tuple[str, ...], operands: dict[tuple[str, ...], tuple[Any, ...]], **more: Any) -> Forms:
    """Return a strategy of leaves; `operands` are values by their operators; `more` is optional."""
    return st.one_of(
        [
            st.fixed_dictionaries(
                {
                    "element": st.sampled_from(elements),
                    "op": st.sampled_from(ops),
                    "value": st.sampled_from(values),
                },
                optional=more,
            )
            for ops, values in operands.items()
        ]
    )


def numbers(*elements: str, values: tuple[Any, ...] = (0, 1, "2")) -> Forms:
    return leaves(elements, {NUMBERS: values, ("like",): ("%", "1%", "_", "%9_")})


def sizes(*elements: str) -> Forms:
    in_units = {NUMBERS: (0, 1, "2", 3)}
    return st.one_of(
        leaves(elements, in_units, units=st.sampled_from(["B", "kB", "KB", "KiB", "bytes", "MB"])),
        leaves(elements, {NUMBERS: (512, 3000, 4048), ("like",): ("%0", "5__", "4%6")}),
    )


PATTERNS = ("%", "a%", "%B", "%l_%", "_o_", "%li%e", "al%ce")
_NAMED = ("owner", "user", "loaned", "lender", "vendor", "model", "location", "serial", "powertype")
_OF_DEVICES = {
    "type": ("network",),
    "driver": ("e1000", "E%"),
    "vendor_id": ("14E4", "%8_"),
    **dict.fromkeys(SELDOM, ("14E4", "%4_")),
}
DISK_LEAVES = sizes("size", "sector_size", "phys_sector_size") | leaves(
    ("model",), {EQUAL: ("st500", "ST4000", ""), ("like",): ("st%", "%5__")}
)


def joined(forms: Forms) -> Forms:
    return st.builds(
        lambda word, inner: {word: inner}, st.sampled_from(["and", "or", "not"]), st.lists(forms, max_size=3)
    )


LEAVES = st.one_of(
    leaves(
        ("hostname", "system/name", "host"),
        {TEXTS: ("a.LAB", "old-1"), ("like",): ("old-%", "%l_b", "_.lab")},
    ),
    leaves(("system_type", "system/type"), {EQUAL: ("Machine", "laptop"), ("like",): ("%p",)}),
    leaves(("system/status",), {EQUAL: ("automated", "Broken", "Manual"), ("like",): ("%ro%",)}),
    leaves(("labcontroller", "hostlabcontroller"), {TEXTS: ("LAB.east", "lab.n"), ("like",): ("lab.%t",)}),
    leaves(tuple(f"system/{name}" for name in _NAMED), {TEXTS: (*NAMES, "ALICE"), ("like",): PATTERNS}),
    leaves(("auto_prov",), {("=", "=="): (True, "True", "1", "any")}),
    numbers("memory", "system/memory", values=(0, 4096, "8192", 5000)),
    numbers("numa_node_count", "system/numanodes"),
    leaves(("hypervisor", "system/hypervisor"), {TEXTS: ("", "kvm", "L"), ("like",): ("%", "k%")}),
    leaves(
        ("arch", "system/arch"), {(*EQUAL, "other"): ("X86_64", "i386"), ("like",): ("x86%", "%86", "i___")}
    ),
    st.fixed_dictionaries(
        {
            "element": st.just("system/compatible_with_distro"),
            "arch": st.sampled_from(["x86_64", "I386"]),
            "osmajor": st.sampled_from(["fedora44", "RHEL9"]),
        },
        optional={"osminor": st.sampled_from(["6", "7", "8"])},
    ),
    leaves(("system/added", "system/last_inventoried"), {NUMBERS: DAYS, ("like",): ("2026-01%", "%-0_")}),
    leaves(("system/last_inventoried",), {EQUAL: ("",)}),
    numbers(
        "cpu/processors", "cpu_count", "cpu/cores", "cpu/sockets", "cpu/family", "cpu/model", "cpu/stepping"
    ),
    leaves(("cpu/speed",), {NUMBERS: (0, 2500, "2593.75", 2500.5), ("like",): ("25%", "%.75")}),
    leaves(
        ("cpu/vendor", "cpu/model_name"), {TEXTS: ("genuineintel", "Xeon", ""), ("like",): ("%e%", "xeon_%")}
    ),
    leaves(("cpu/hyper",), {EQUAL: (True, False, "true", "0")}),
    leaves(("cpu/flag",), {EQUAL: ("VMX", "svm"), ("like",): ("sse%", "%_2")}),
    sizes("diskspace"),
    numbers("diskcount"),
    leaves(
        ("pool", "group"), {EQUAL: ("", "BIG", "small"), ("other",): ("BIG", "x"), ("like",): ("%g", "s%")}
    ),
    leaves(("key_value",), {(*NUMBERS, "other"): ("1", 3, "YES", "-4"), ("like",): ("%", "1%")}).flatmap(
        lambda leaf: st.sampled_from([{**leaf, "key": key} for key in ("hvm", "CORES", "none")])
    ),
    st.builds(
        lambda key, op: {"element": "key_value", "key": key, "op": op},
        st.sampled_from(["HVM", "none"]),
        st.sampled_from([*EQUAL, "other"]),
    ),
    st.fixed_dictionaries(
        {"element": st.just("device"), "op": st.sampled_from(MATCH)},
        optional={name: st.sampled_from(texts) for name, texts in _OF_DEVICES.items()},
    ),
    st.builds(
        lambda inner: {"disk": inner}, st.lists(st.recursive(DISK_LEAVES, joined, max_leaves=3), max_size=2)
    ),
)

FORMS = st.recursive(LEAVES, joined, max_leaves=8)
