"""Each element with each operator, for systems with the property, without it, or unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from domain.requirements import vocabulary
from domain.requirements.operators import SPELLINGS
from domain.requirements.vocabulary import Vocabulary
from tests.domain.requirements.evaluation import answer
from tests.domain.requirements.every_element import DISK_ELEMENTS, ELEMENTS, EXCLUDING, ElementCase

Row = tuple[dict[str, Any], Any, bool | None]
"""Form, inventory, and the answer."""


def rows(asked: ElementCase, spelling: str) -> Iterator[Row]:
    for inventory, held in asked.held:
        for op, value, said in held:
            yield form(asked, spelling, op, value), inventory, said
    for inventory in asked.lacking:
        for op, value, _ in asked.held[0][1]:
            if value != "":
                yield form(asked, spelling, op, value), inventory, asked.lacks.get(SPELLINGS[op])


def form(asked: ElementCase, spelling: str, op: str, value: Any) -> dict[str, Any]:
    return {"element": spelling, "op": op, "value": value, **asked.attributes}


def each(elements: list[ElementCase]) -> list[tuple[ElementCase, str]]:
    return [(asked, spelling) for asked in elements for spelling in asked.spellings]


@pytest.mark.parametrize(("element", "spelling"), each(ELEMENTS), ids=[name for _, name in each(ELEMENTS)])
def test_element__one_system__answer_of_table(element: ElementCase, spelling: str) -> None:
    for asked, inventory, said in rows(element, spelling):
        negated = None if said is None else not said
        assert (asked, inventory, answer(asked, inventory)) == (asked, inventory, said)
        assert (asked, inventory, answer({"not": [asked]}, inventory)) == (asked, inventory, negated)


@pytest.mark.parametrize(
    ("element", "spelling"), each(DISK_ELEMENTS), ids=[name for _, name in each(DISK_ELEMENTS)]
)
def test_disk__one_disk__answer_of_table(element: ElementCase, spelling: str) -> None:
    for asked, disk, said in rows(element, spelling):
        negated = None if said is None else not said
        assert (asked, disk, answer({"disk": [asked]}, {"disks": [disk]})) == (asked, disk, said)
        assert (asked, disk, answer({"disk": [{"not": [asked]}]}, {"disks": [disk]})) == (
            asked,
            disk,
            negated,
        )


def covered_operators(elements: list[ElementCase]) -> dict[str, set[str]]:
    """Return, by spelling, the operators in the table."""
    return {
        spelling: {SPELLINGS[op] for _, held in asked.held for op, _, _ in held}
        for asked in elements
        for spelling in asked.spellings
    }


# Elements with their own tests below.
BY_THEMSELVES = {"device": {"==", "!=", "like"}, "system/compatible_with_distro": set[str]()}


@pytest.mark.parametrize(
    ("language", "table"),
    [
        (vocabulary.SYSTEM, {**covered_operators(ELEMENTS), **BY_THEMSELVES}),
        (vocabulary.DISK, covered_operators(DISK_ELEMENTS)),
    ],
)
def test_table__of_elements__has_each_spelling_with_each_operator(
    language: Vocabulary, table: dict[str, set[str]]
) -> None:
    assert {name: set(element.operators) for name, element in language.elements.items()} == table


EMPTY = [
    # In no pool; in any pool.
    ("pool", "=", "", {}, True),
    ("group", "!=", "", {"pools": None}, False),
    ("pool", "=", "", {"pools": []}, True),
    # Never inventoried; inventoried.
    ("system/last_inventoried", "=", "", {}, True),
    ("system/last_inventoried", "!=", "", {"last_inventoried_at": None}, False),
    # An empty text is an ordinary value: an unknown property is not empty.
    ("hypervisor", "=", "", {"hypervisor": None}, None),
    ("hypervisor", "!=", "", {}, None),
    ("system/vendor", "=", "", {"vendor": None}, None),
    ("system/vendor", "=", "", {"vendor": ""}, True),
    ("cpu/flag", "=", "", {}, False),
    ("cpu/flag", "!=", "", {}, True),
]


@pytest.mark.parametrize(("element", "op", "value", "inventory", "expected"), EMPTY)
def test_empty_value__one_system__answer_of_table(
    element: str, op: str, value: Any, inventory: dict[str, Any], expected: bool | None
) -> None:
    asked = {"element": element, "op": op, "value": value}
    assert answer(asked, inventory) is expected
    assert answer({"not": [asked]}, inventory) is (None if expected is None else not expected)


HVM = {"key_values": {"HVM": ["1", "yes"], "CORES": ["12"]}}


@pytest.mark.parametrize(
    ("attributes", "inventory", "expected"),
    [
        # whole numbers compare as numbers, 9 before 12
        ({"key": "CORES", "op": ">", "value": 9}, HVM, True),
        ({"key": "CORES", "op": "<=", "value": "9"}, HVM, False),
        # without a value: has the key, lacks it
        ({"key": "HVM"}, HVM, True),
        ({"key": "HVM", "op": "!="}, HVM, False),
        ({"key": "HVM", "op": "!="}, {"key_values": None}, True),
        # another key is there
        ({"key": "CPU", "op": "other"}, HVM, True),
        ({"key": "CPU", "op": "other", "value": "1"}, HVM, True),
        ({"key": "HVM", "op": "other"}, HVM, False),
        ({"key": "CPU", "value": "1"}, HVM, False),
        ({"key": "CPU", "op": "!=", "value": "1"}, HVM, True),
        ({"key": "HVM"}, {}, False),
    ],
)
def test_key_value__one_system__answer_of_table(
    attributes: dict[str, Any], inventory: dict[str, Any], expected: bool
) -> None:
    asked = {"element": "key_value", **attributes}
    assert answer(asked, inventory) is expected
    assert answer({"not": [asked]}, inventory) is not expected


@pytest.mark.parametrize(
    ("attributes", "inventory", "expected"),
    [
        ({"arch": "X86_64", "osmajor": "rhel9"}, {"arches": ["x86_64"]}, True),
        ({"arch": "s390x", "osmajor": "RHEL9"}, EXCLUDING, False),
        # without a minor version: all versions
        ({"arch": "x86_64", "osmajor": "RHEL9"}, EXCLUDING, False),
        ({"arch": "x86_64", "osmajor": "RHEL9", "osminor": "6"}, EXCLUDING, False),
        ({"arch": "x86_64", "osmajor": "RHEL9", "osminor": "7"}, EXCLUDING, True),
        # all of a family are excluded
        ({"arch": "i386", "osmajor": "Fedora44", "osminor": "0"}, EXCLUDING, False),
        # on another arch only
        ({"arch": "x86_64", "osmajor": "Fedora44"}, EXCLUDING, True),
        # a system without arches
        ({"arch": "x86_64", "osmajor": "RHEL9"}, {}, False),
        ({"arch": "x86_64", "osmajor": "RHEL9"}, {"arches": None, "excluded_families": None}, False),
    ],
)
def test_compatible__one_system__answer_of_table(
    attributes: dict[str, Any], inventory: dict[str, Any], expected: bool
) -> None:
    asked = {"element": "system/compatible_with_distro", **attributes}
    assert answer(asked, inventory) is expected
    assert answer({"not": [asked]}, inventory) is not expected


def size(op: str, value: int, units: str = "GB") -> dict[str, Any]:
    return {"element": "size", "op": op, "value": value, "units": units}


TWO_DISKS = {
    "disks": [
        {"size_bytes": 400 * 10**9, "sector_size": 4096},
        {"size_bytes": 800 * 10**9, "sector_size": 512},
    ]
}


@pytest.mark.parametrize(
    ("children", "inventory", "expected"),
    [
        ([size(">", 400)], TWO_DISKS, True),
        ([size("=", 800_000, "MB")], TWO_DISKS, True),
        ([size(">", 800, "GiB")], TWO_DISKS, False),
        # a single disk must satisfy all parts
        ([size(">", 300), size("<", 500)], TWO_DISKS, True),
        ([size(">", 500), size("<", 700)], TWO_DISKS, False),
        ([size(">", 500), {"element": "sector_size", "value": 4, "units": "KiB"}], TWO_DISKS, False),
        ([{"not": [size("=", 400)]}], TWO_DISKS, True),
        ([{"or": [size("=", 1), size("=", 800)]}], TWO_DISKS, True),
        # any disk
        ([], TWO_DISKS, True),
        ([], {"disks": []}, False),
        ([], {"disks": None}, None),
        ([size(">", 1)], {"disks": [{"size_bytes": None}]}, None),
        ([size(">", 1)], {"disks": [{"size_bytes": None}, {"size_bytes": 2 * 10**9}]}, True),
    ],
)
def test_disk__one_system__answer_of_table(
    children: list[dict[str, Any]], inventory: dict[str, Any], expected: bool | None
) -> None:
    assert answer({"disk": children}, inventory) is expected


@pytest.mark.parametrize(
    ("units", "wanted"),
    [
        ("bytes", 8), ("B", 8), ("kB", 8_000), ("KB", 8_000), ("KiB", 8_192), ("MB", 8 * 10**6),
        ("MiB", 8 * 2**20), ("GB", 8 * 10**9), ("GiB", 8 * 2**30), ("TB", 8 * 10**12), ("TiB", 8 * 2**40),
    ],
)  # fmt: skip
def test_units__each__number_of_bytes(units: str, wanted: int) -> None:
    for element in ("size", "sector_size", "phys_sector_size"):
        field = "size_bytes" if element == "size" else element
        asked = {"element": element, "value": "8", "units": units}
        assert answer({"disk": [asked]}, {"disks": [{field: wanted}]}) is True
        assert answer({"disk": [asked]}, {"disks": [{field: wanted + 1}]}) is False
    asked = {"element": "diskspace", "value": 8, "units": units}
    assert answer(asked, {"disks": [{"size_bytes": wanted - 1}, {"size_bytes": 1}]}) is True


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
def test_logic__one_part_unknown__decided_only_by_the_other(
    form: dict[str, Any], expected: bool | None
) -> None:
    assert answer(form, {"memory_mb": None}) is expected


@pytest.mark.parametrize("empty", [{"and": []}, {"or": []}, {"not": []}, {}, {"element": "device"}])
def test_empty__anywhere__no_constraint(empty: dict[str, Any]) -> None:
    never = {"element": "hostname", "value": "b"}
    assert answer(empty, {}) is True
    assert answer({"not": [empty]}, {}) is True
    assert answer({"or": [empty, never]}, {}) is False
