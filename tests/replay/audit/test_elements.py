"""Every element of the language with every operator, for recorded and for missing properties."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from replay.audit.comparisons import COMPARE
from replay.audit.elements import DISK_ELEMENTS, SYSTEM_ELEMENTS
from replay.audit.facts import facts_of
from replay.audit.requirement import judge

ORDER = tuple(COMPARE)
MATCHING = ("==", "!=", "like")

DISK = {"model": "Fast 4", "size_bytes": 2000, "sector_size": 512, "phys_sector_size": 4096}
SYSTEM: dict[str, Any] = {
    "fqdn": "a1.example.com",
    "lab_controller": "lab.example.com",
    "owner": "Ada",
    "condition": "Automated",
    "user": "bob",
    "loaned_to": "eve",
    "type": "Machine",
    "lender": "Acme",
    "vendor": "Dull",
    "model": "R720",
    "location": "Hall 3",
    "serial": "S-77",
    "power_type": "ipmilan",
    "hypervisor": "KVM",
    "memory_mb": 4096,
    "numa_nodes": 2,
    "cpu": {
        "processors": 8,
        "cores": 4,
        "sockets": 1,
        "family": 6,
        "model": 85,
        "stepping": 0,
        "speed_mhz": 2500.0,
        "vendor": "GenuineIntel",
        "model_name": "Xeon Gold",
    },
    "added_at": "2026-03-01T23:30:00-01:00",
    "last_inventoried_at": "2026-04-01T00:30:00+02:00",
    "disks": [DISK, {**DISK, "size_bytes": 3000}],
}

# Text properties: (spellings, less, equal, more, a matching pattern).
TEXTS = [
    ("hostname system/name host", "a0", "A1.example.com", "b", "a_.%"),
    ("labcontroller hostlabcontroller", "kiel", "LAB.example.com", "mab", "%.example.com"),
    ("system/owner", "aaa", "ada", "bob", "a%"),
    ("system/user", "ada", "BOB", "eve", "%o%"),
    ("system/loaned", "ada", "Eve", "fay", "e_e"),
    ("system/lender", "a", "ACME", "b", "%me"),
    ("system/vendor", "a", "dull", "e", "d%"),
    ("system/model", "q", "r720", "s", "R7%"),
    ("system/location", "a", "hall 3", "z", "Hall _"),
    ("system/serial", "a", "s-77", "z", "%77"),
    ("system/powertype", "a", "ipmiLAN", "z", "ipmi%"),
    ("hypervisor system/hypervisor", "", "kvm", "x", "k_m"),
    ("cpu/vendor", "a", "GENUINEintel", "z", "%intel"),
    ("cpu/model_name", "a", "xeon gold", "z", "xeon%"),
    ("system/added", "2026-03-01", "2026-03-02", "2026-03-03", "2026-03-%"),
    ("system/last_inventoried", "2026-03-30", "2026-03-31", "2026-04-01", "2026-03-3_"),
]
NUMBERS = [
    ("memory system/memory", 4095, 4096, 4097, "40%"),
    ("numa_node_count system/numanodes", 1, 2, 3, "2"),
    ("cpu/processors cpu_count", 7, 8, 9, "_"),
    ("cpu/cores", 3, 4, 5, "4"),
    ("cpu/sockets", 0, 1, 2, "1"),
    ("cpu/family", 5, 6, 7, "6"),
    ("cpu/model", 84, 85, 86, "8_"),
    # Zero is an ordinary number.
    ("cpu/stepping", -1, 0, 1, "0"),
    ("cpu/speed", 2499.9, 2500, 2500.1, "25__"),
    ("diskcount", 1, 2, 3, "2"),
    ("diskspace", 4999, 5000, 5001, "5%"),
]
COMPARED = [row for rows in (TEXTS, NUMBERS) for row in rows]


def leaf(element: str, op: str, value: object) -> dict[str, Any]:
    return {"element": element, "op": op, "value": value}


def said(form: dict[str, Any], system: dict[str, Any]) -> tuple[bool | None, bool | None]:
    """Evaluate a condition and its negation for a system."""
    facts = facts_of(system)
    return judge(form, facts), judge({"not": [form]}, facts)


YES, NO, UNKNOWN = (True, False), (False, True), (None, None)
# Operator -> results for an operand that is less than, equal to, and more than the value.
SAID = {
    "==": (NO, YES, NO),
    "!=": (YES, NO, YES),
    ">": (YES, NO, NO),
    ">=": (YES, YES, NO),
    "<": (NO, NO, YES),
    "<=": (NO, YES, YES),
}


@pytest.mark.parametrize(("spellings", "less", "same", "more", "pattern"), COMPARED)
def test_element__compared__as_its_property_is(
    spellings: str, less: object, same: object, more: object, pattern: str
) -> None:
    for element, op in product(spellings.split(), ORDER):
        found = tuple(said(leaf(element, op, value), SYSTEM) for value in (less, same, more))
        assert found == SAID[op], f"{element} {op}"
    for element in spellings.split():
        assert said(leaf(element, "like", pattern), SYSTEM) == YES
        assert said(leaf(element, "like", f"{pattern}!"), SYSTEM) == NO


NULL = {**dict.fromkeys(SYSTEM), "cpu": dict.fromkeys(SYSTEM["cpu"])}
BARE: dict[str, Any] = {"cpu": None}
NEVER_UNKNOWN = {"diskcount"}


@pytest.mark.parametrize("system", [NULL, BARE, {}], ids=["null", "no cpu", "nothing"])
@pytest.mark.parametrize(("spellings", "less", "same", "more", "pattern"), COMPARED)
def test_element__unrecorded__neither_it_nor_its_opposite(
    system: dict[str, Any], spellings: str, less: object, same: object, more: object, pattern: str
) -> None:
    for element, op in product(set(spellings.split()) - NEVER_UNKNOWN, ORDER):
        assert said(leaf(element, op, same), system) == UNKNOWN
        assert said(leaf(element, "like", pattern), system) == UNKNOWN


# (Form, result for SYSTEM, result for a system without any properties.)
OTHERS = [
    (leaf("system_type", "==", "machine"), YES, UNKNOWN),
    (leaf("system/type", "!=", "Machine"), NO, UNKNOWN),
    (leaf("system/type", "like", "mach%"), YES, UNKNOWN),
    (leaf("system/status", "==", "automated"), YES, UNKNOWN),
    (leaf("system/status", "!=", "Broken"), YES, UNKNOWN),
    (leaf("system/status", "like", "%man%"), NO, UNKNOWN),
    (leaf("cpu/hyper", "==", True), UNKNOWN, UNKNOWN),
    (leaf("auto_prov", "==", "true"), YES, UNKNOWN),
    (leaf("auto_prov", "==", True), YES, UNKNOWN),
    # Sets: an empty one has no members.
    (leaf("arch", "==", "x86_64"), NO, NO),
    (leaf("system/arch", "!=", "x86_64"), YES, YES),
    (leaf("cpu/flag", "like", "%"), NO, NO),
    (leaf("pool", "!=", "big"), YES, YES),
    (leaf("group", "==", ""), YES, YES),
    # Another value is recorded; a list without members decides nothing.
    (leaf("pool", "other", "big"), UNKNOWN, UNKNOWN),
    (leaf("arch", "other", "s390x"), UNKNOWN, UNKNOWN),
    ({**leaf("key_value", "other", "1"), "key": "HVM"}, UNKNOWN, UNKNOWN),
    (leaf("diskcount", "==", 0), NO, YES),
    # Never inventoried: that is a recorded fact.
    (leaf("system/last_inventoried", "==", ""), NO, YES),
    (leaf("system/last_inventoried", "!=", ""), YES, NO),
    # A single disk satisfies both.
    ({"disk": []}, YES, UNKNOWN),
    ({"disk": [leaf("size", ">", 2), leaf("model", "like", "fast%")]}, YES, UNKNOWN),
    ({"disk": [{**leaf("size", "==", 2), "units": "kB"}]}, YES, UNKNOWN),
    ({"disk": [{**leaf("size", ">=", 3), "units": "KiB"}]}, NO, UNKNOWN),
    ({"disk": [leaf("sector_size", "==", 512), leaf("phys_sector_size", "!=", 512)]}, YES, UNKNOWN),
    ({"disk": [leaf("size", "==", 2000), {"not": [leaf("size", "<", 3000)]}]}, NO, UNKNOWN),
    ({**leaf("diskspace", ">=", 5), "units": "kB"}, YES, UNKNOWN),
    ({**leaf("diskspace", ">=", 5), "units": "KiB"}, NO, UNKNOWN),
]


@pytest.mark.parametrize(("form", "of_it", "of_nothing"), OTHERS)
def test_element__of_its_own_kind__as_the_language_has_it(
    form: dict[str, Any], of_it: tuple[Any, Any], of_nothing: tuple[Any, Any]
) -> None:
    assert said(form, SYSTEM) == of_it
    assert said(form, {}) == of_nothing


MANY: dict[str, Any] = {
    "cpu": {"hyper": False, "flags": ["VMX", "sse4_2"]},
    "arches": ["x86_64", "i386"],
    "pools": ["Big", "net"],
    "power_type": "",
    "disks": [],
    "excluded_families": [
        {"arch": "x86_64", "family": "Fedora", "version": "40"},
        {"arch": "x86_64", "family": "CentOS", "version": None},
    ],
}


def distro(arch: str, family: str, version: str | None = None) -> dict[str, Any]:
    form = {"element": "system/compatible_with_distro", "arch": arch, "osmajor": family}
    return form if version is None else {**form, "osminor": version}


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        (leaf("cpu/hyper", "==", False), YES),
        (leaf("cpu/hyper", "!=", "false"), NO),
        (leaf("cpu/hyper", "==", "1"), NO),
        # One of them matches; `!=`: none does.
        (leaf("arch", "==", "I386"), YES),
        (leaf("arch", "!=", "i386"), NO),
        (leaf("arch", "like", "x86%"), YES),
        (leaf("arch", "like", "ppc%"), NO),
        (leaf("cpu/flag", "like", "sse%"), YES),
        (leaf("cpu/flag", "!=", "vmx"), NO),
        (leaf("pool", "like", "b%"), YES),
        (leaf("pool", "!=", "NET"), NO),
        (leaf("pool", "!=", ""), YES),
        (leaf("pool", "other", "net"), NO),
        (leaf("group", "other", "small"), YES),
        (leaf("arch", "other", "s390x"), YES),
        # A document never says that a system cannot be switched on, nor which disks it lacks.
        (leaf("auto_prov", "==", "true"), UNKNOWN),
        (leaf("diskspace", ">=", 0), UNKNOWN),
        (leaf("diskcount", "==", 0), YES),
        ({"disk": []}, NO),
        (distro("x86_64", "Fedora", "40"), NO),
        (distro("x86_64", "fedora", "41"), YES),
        # All versions, though one is excluded.
        (distro("x86_64", "Fedora"), NO),
        (distro("x86_64", "CentOS", "9"), NO),
        (distro("X86_64", "Debian"), YES),
        (distro("i386", "CentOS"), YES),
        # The system lacks the architecture.
        (distro("s390x", "Debian"), NO),
    ],
)
def test_element__of_several__each_counts(form: dict[str, Any], answer: tuple[Any, Any]) -> None:
    assert said(form, MANY) == answer


def test_diskspace__size_of_one_disk_missing__is_unknown() -> None:
    disks = [{"size_bytes": 10}, {"size_bytes": None}]
    assert said(leaf("diskspace", ">", 5), {"disks": disks}) == UNKNOWN


def test_elements__of_the_table__are_all_there_are() -> None:
    """Check that this file tests every element of the table."""
    asked = {spelling for row in COMPARED for spelling in str(row[0]).split()}
    asked |= {str(form["element"]) for form, *_ in OTHERS if "element" in form}
    beside = {"system/compatible_with_distro", "key_value", "system/key_value", "device"}
    assert set(SYSTEM_ELEMENTS) == asked | beside
    assert set(DISK_ELEMENTS) == set(DISK) - {"size_bytes"} | {"size"}
