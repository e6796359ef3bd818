"""Each element with each kind of question, of systems that have the property, lack it or hide it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.requirements.asking import answer

LEAVES = [
    # element, op, value, inventory, answer
    ("system_type", "=", "machine", {}, True),
    ("system_type", "!=", "Machine", {}, False),
    ("system_type", "=", "Laptop", {"type": None}, None),
    ("system/type", "like", "lap%", {"type": "Laptop"}, True),
    ("hostname", "=", "A.example.COM", {}, True),
    ("system/name", "like", "a.%.com", {}, True),
    ("system/name", "like", "_.example.com", {}, True),
    ("system/name", "like", "example", {}, False),
    ("hostname", ">", "a", {}, True),
    ("hostname", "<=", "a", {}, False),
    ("memory", ">=", 8192, {"memory_mb": 8192}, True),
    ("memory", ">", "8192", {"memory_mb": 8192}, False),
    ("system/memory", "<", 8192, {"memory_mb": 4096}, True),
    # zero counts
    ("memory", "=", 0, {"memory_mb": 0}, True),
    ("memory", "!=", 0, {"memory_mb": 0}, False),
    ("memory", "!=", 0, {"memory_mb": None}, None),
    ("memory", "like", "81%", {"memory_mb": 8192}, True),
    # no hypervisor is the empty text, not an unknown one
    ("hypervisor", "=", "", {"hypervisor": ""}, True),
    ("hypervisor", "=", "", {"hypervisor": None}, None),
    ("system/hypervisor", "!=", "", {"hypervisor": "KVM"}, True),
    ("hypervisor", "=", "kvm", {"hypervisor": "KVM"}, True),
    ("hypervisor", "!=", "kvm", {}, None),
    ("arch", "=", "X86_64", {"arches": ["x86_64", "i386"]}, True),
    ("system/arch", "!=", "i386", {"arches": ["x86_64", "i386"]}, False),
    ("arch", "!=", "i386", {"arches": None}, True),
    ("arch", "=", "i386", {}, False),
    ("system/numanodes", "=", 2, {"numa_nodes": 2}, True),
    ("system/numanodes", "!=", 2, {}, None),
    ("cpu/sockets", ">=", 2, {"cpu": {"sockets": 2}}, True),
    ("cpu/sockets", "<", 2, {"cpu": {"sockets": 2}}, False),
    ("cpu/sockets", ">=", 2, {"cpu": None}, None),
    ("cpu/sockets", "!=", 2, {}, None),
    ("cpu/processors", "=", 8, {"cpu": {"processors": 8}}, True),
    ("cpu_count", ">", 8, {"cpu": {"processors": 8}}, False),
    ("cpu/cores", "<=", 4, {"cpu": {"cores": 4}}, True),
    ("cpu/flag", "=", "VMX", {"cpu": {"flags": ["vmx"]}}, True),
    ("cpu/flag", "!=", "vmx", {"cpu": {"flags": ["sse", "vmx"]}}, False),
    ("cpu/flag", "like", "sse%", {"cpu": {"flags": ["vmx", "sse4_2"]}}, True),
    ("cpu/flag", "!=", "vmx", {}, True),
    ("cpu/flag", "=", "vmx", {}, False),
    ("diskcount", "=", 0, {"disks": []}, True),
    ("diskcount", "=", 0, {}, True),
    ("diskcount", ">=", 2, {"disks": [{}, {}]}, True),
    ("pool", "=", "big", {"pools": ["big"]}, True),
    ("pool", "!=", "big", {"pools": ["big"]}, False),
    ("pool", "!=", "big", {}, True),
    ("pool", "=", "", {"pools": []}, True),
    ("pool", "=", "", {"pools": ["big"]}, False),
    ("pool", "!=", "", {"pools": ["big"]}, True),
    ("pool", "!=", "", {}, False),
    ("system/last_inventoried", "=", "", {}, True),
    ("system/last_inventoried", "!=", "", {}, False),
    ("system/last_inventoried", "!=", "", {"last_inventoried_at": "2026-10-01T00:00:00Z"}, True),
    # the whole day, in UTC
    ("system/last_inventoried", "=", "2026-10-01", {"last_inventoried_at": "2026-10-01T23:59:59Z"}, True),
    ("system/last_inventoried", ">", "2026-10-01", {"last_inventoried_at": "2026-10-01T23:59:59Z"}, False),
    (
        "system/last_inventoried",
        ">=",
        "2026-10-02",
        {"last_inventoried_at": "2026-10-01T23:00:00-02:00"},
        True,
    ),
    ("system/last_inventoried", "<", "2026-10-01", {}, None),
]


@pytest.mark.parametrize(("element", "op", "value", "inventory", "expected"), LEAVES)
def test_leaf__one_system__answers_as_the_table_says(
    element: str, op: str, value: Any, inventory: dict[str, Any], expected: bool | None
) -> None:
    assert answer({"element": element, "op": op, "value": value}, inventory) is expected


@pytest.mark.parametrize(("element", "op", "value", "inventory", "expected"), LEAVES)
def test_negation__one_system__is_the_opposite_or_still_unknown(
    element: str, op: str, value: Any, inventory: dict[str, Any], expected: bool | None
) -> None:
    negated = {"not": [{"element": element, "op": op, "value": value}]}
    assert answer(negated, inventory) is (None if expected is None else not expected)


HVM = {"key_values": {"HVM": ["1", "yes"], "CORES": ["12"]}}


@pytest.mark.parametrize(
    ("attributes", "inventory", "expected"),
    [
        ({"key": "hvm", "op": "=", "value": "1"}, HVM, True),
        ({"key": "HVM", "op": "=", "value": "YES"}, HVM, True),
        ({"key": "HVM", "op": "!=", "value": "1"}, HVM, False),
        ({"key": "HVM", "op": "!=", "value": "2"}, HVM, True),
        ({"key": "HVM", "op": "!=", "value": "2"}, {}, True),
        ({"key": "HVM", "op": "like", "value": "y%"}, HVM, True),
        # whole numbers compare as numbers, 9 before 12
        ({"key": "CORES", "op": ">", "value": 9}, HVM, True),
        ({"key": "CORES", "op": "<=", "value": "9"}, HVM, False),
        ({"key": "CORES", "op": ">", "value": "9"}, {}, False),
        # without a value: has the key, lacks it
        ({"key": "HVM"}, HVM, True),
        ({"key": "HVM", "op": "!="}, HVM, False),
        ({"key": "HVM", "op": "!="}, {"key_values": None}, True),
        ({"key": "HVM"}, {}, False),
    ],
)
def test_key_value__one_system__answers_as_the_table_says(
    attributes: dict[str, Any], inventory: dict[str, Any], expected: bool
) -> None:
    form = {"element": "key_value", **attributes}
    assert answer(form, inventory) is expected
    assert answer({"not": [form]}, inventory) is not expected


NICS = {
    "devices": [
        {"type": "NETWORK", "driver": "ixgbe", "vendor_id": "14e4"},
        {"type": "SCSI", "driver": "e1000", "vendor_id": None},
    ]
}


@pytest.mark.parametrize(
    ("attributes", "inventory", "expected"),
    [
        ({"type": "network", "driver": "IXGBE"}, NICS, True),
        # one device has the type and another the driver
        ({"type": "NETWORK", "driver": "e1000"}, NICS, False),
        ({"op": "!=", "type": "NETWORK", "driver": "e1000"}, NICS, True),
        ({"op": "!=", "vendor_id": "14E4"}, NICS, False),
        ({"op": "!=", "vendor_id": "14E4"}, {}, True),
        ({"op": "like", "driver": "e1%"}, NICS, True),
        # a type is never a pattern
        ({"op": "like", "type": "NET%"}, NICS, False),
        ({"driver": "ixgbe"}, {"devices": None}, False),
        ({"bus": "pci"}, NICS, False),
    ],
)
def test_device__one_system__answers_as_the_table_says(
    attributes: dict[str, Any], inventory: dict[str, Any], expected: bool
) -> None:
    form = {"element": "device", **attributes}
    assert answer(form, inventory) is expected
    assert answer({"not": [form]}, inventory) is not expected


def size(op: str, value: int, units: str = "GB") -> dict[str, Any]:
    return {"element": "size", "op": op, "value": value, "units": units}


TWO_DISKS = {"disks": [{"size_bytes": 400 * 10**9}, {"size_bytes": 800 * 10**9}]}


@pytest.mark.parametrize(
    ("children", "inventory", "expected"),
    [
        ([size(">", 400)], TWO_DISKS, True),
        ([size("=", 800_000, "MB")], TWO_DISKS, True),
        ([size(">", 800, "GiB")], TWO_DISKS, False),
        # one disk must do it all
        ([size(">", 300), size("<", 500)], TWO_DISKS, True),
        ([size(">", 500), size("<", 700)], TWO_DISKS, False),
        ([{"not": [size("=", 400)]}], TWO_DISKS, True),
        ([{"or": [size("=", 1), size("=", 800)]}], TWO_DISKS, True),
        # any disk at all
        ([], TWO_DISKS, True),
        ([], {"disks": []}, False),
        ([], {"disks": None}, None),
        ([size(">", 1)], {"disks": [{"size_bytes": None}]}, None),
        ([size(">", 1)], {"disks": [{"size_bytes": None}, {"size_bytes": 2 * 10**9}]}, True),
    ],
)
def test_disk__one_system__answers_as_the_table_says(
    children: list[dict[str, Any]], inventory: dict[str, Any], expected: bool | None
) -> None:
    assert answer({"disk": children}, inventory) is expected


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"not": [{"element": "memory", "value": 1}, {"element": "hostname", "value": "b"}]}, True),
        (
            {"not": [{"element": "memory", "value": 1}, {"element": "hostname", "value": "a.example.com"}]},
            None,
        ),
        (
            {"or": [{"element": "memory", "value": 1}, {"element": "hostname", "value": "a.example.com"}]},
            True,
        ),
        ({"and": [{"element": "memory", "value": 1}, {"element": "hostname", "value": "b"}]}, False),
    ],
)
def test_logic__one_part_unknown__is_decided_only_by_the_other(
    form: dict[str, Any], expected: bool | None
) -> None:
    assert answer(form, {"memory_mb": None}) is expected


@pytest.mark.parametrize("empty", [{"and": []}, {"or": []}, {"not": []}, {}, {"element": "device"}])
def test_empty__anywhere__asks_nothing(empty: dict[str, Any]) -> None:
    never = {"element": "hostname", "value": "b"}
    assert answer(empty, {}) is True
    assert answer({"not": [empty]}, {}) is True
    assert answer({"or": [empty, never]}, {}) is False
