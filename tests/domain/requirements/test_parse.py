"""Requirements: how they are read, and every element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from domain.requirements import All, Forced, Leaf, from_text, parse, to_form, to_text, vocabulary
from domain.requirements.host import HOST
from domain.requirements.operators import SPELLINGS
from domain.requirements.vocabulary import Vocabulary
from tests.domain.requirements.evaluation import answer, messages, refuse
from tests.domain.requirements.every_element import DISK_ELEMENTS, ELEMENTS, EXCLUDING, ElementCase

MACHINE = Leaf("system_type", "==", "Machine")


def leaf(element: str, **attributes: Any) -> dict[str, Any]:
    return {"element": element, **attributes}


def test_requirement__no_type_named__asks_for_machines() -> None:
    assert parse({}, refuse) == MACHINE
    assert parse(leaf("memory", value=1), refuse) == All((Leaf("memory", "==", 1), MACHINE))


@pytest.mark.parametrize("element", ["system_type", "system/type"])
def test_requirement__type_named_anywhere__adds_none(element: str) -> None:
    form = {"or": [{"not": [leaf(element, value="Laptop")]}, leaf("memory", value=1)]}
    assert "Machine" not in to_text(parse(form, refuse))


def test_requirement__forced__has_no_other_part() -> None:
    assert parse({"force": "a.example.com"}, refuse) == Forced("a.example.com")


def test_text__spellings_and_needless_nesting__one_canonical_text() -> None:
    plain = {"and": [leaf("cpu_count", op="=", value="8"), leaf("hostname", op="like", value="a%")]}
    nested = {
        "and": [
            {"and": [leaf("cpu/processors", value=8)]},
            {"or": [leaf("system/name", op="like", value="a%")]},
        ]
    }
    assert to_text(parse(plain, refuse)) == to_text(parse(nested, refuse))


ROUND = {
    "and": [
        {"or": [leaf("memory", op=">=", value=1), {"not": [leaf("pool", op="!=", value="big")]}]},
        leaf("key_value", key="HVM", op="!="),
        leaf("device", type="NETWORK", driver="e1000"),
        {"disk": [leaf("size", op=">", value=4, units="GiB"), leaf("size", op="<", value=2**40)]},
        {"disk": []},
        leaf("system/last_inventoried", op="!=", value=""),
    ]
}


def test_form__parsed_and_written_again__reads_the_same() -> None:
    node = parse(ROUND, refuse)
    assert parse(to_form(node), refuse) == node
    assert to_text(from_text(to_text(node))) == to_text(node)


def test_text__no_requirement__refused() -> None:
    with pytest.raises(ValueError, match="unknown element"):
        from_text('{"element":"memroy","value":1}')


@pytest.mark.parametrize(
    ("form", "path", "message"),
    [
        (leaf("memroy", value=1), (), "unknown element <memroy>"),
        (leaf("cpu/memory", value=1), (), "unknown element <memory>"),
        (leaf("size", value=1), (), "unknown element <size>"),
        ({"disk": [leaf("vendor", value="x")]}, ("disk", 0), "unknown element <vendor>"),
        (leaf("cpu/hyper", value="maybe"), ("value",), "must be true or false"),
        (leaf("cpu/hyper", op=">", value="true"), ("op",), "must be one of = == !="),
        (leaf("cpu/speed", value="fast"), ("value",), "must be a number with at most 4 decimal places"),
        (leaf("cpu/speed", value=1e-9), ("value",), "must be a number with at most 4 decimal places"),
        (leaf("cpu/speed", value=float("nan")), ("value",), "must be a number with at most 4 decimal places"),
        (leaf("cpu/speed", value="3000000000"), ("value",), "must be between -2147483648 and 2147483647"),
        (leaf("auto_prov", value="False"), ("value",), "must be true; the opposite cannot be required"),
        (leaf("auto_prov", value=""), ("value",), "must be true; the opposite cannot be required"),
        (leaf("auto_prov", op="!=", value="1"), ("op",), "must be one of = =="),
        (leaf("system/compatible_with_distro", arch="x86_64"), (), "needs arch and osmajor"),
        (leaf("system/compatible_with_distro", arch="a", osmajor="b", op="="), (), 'unknown attribute "op"'),
        (
            leaf("diskspace", op="like", value="5%", units="GB"),
            ("value",),
            "a pattern cannot have units: it is matched against the number of bytes",
        ),
        (leaf("system/added", value=""), ("value",), "must be a day, YYYY-MM-DD"),
        (leaf("pool", op="like", value=""), ("value",), "an empty value requires the operator = or !="),
        (
            leaf("system/status", value="Busy"),
            ("value",),
            "must be one of Automated, Manual, Broken, Removed",
        ),
        (leaf("memory", op="=>", value=1), ("op",), "must be one of = == != > >= < <= like"),
        (leaf("arch", op=">", value="x"), ("op",), "must be one of = == != like other"),
        (leaf("memory", op=7, value=1), ("op",), "must be one of = == != > >= < <= like"),
        (leaf("memory", op=">"), (), "needs value"),
        (leaf("key_value", value="1"), (), "needs key"),
        (leaf("key_value", key="a", op=">"), ("value",), "> needs a value"),
        (leaf("memory", value="much"), ("value",), "must be a whole number"),
        (leaf("memory", value=True), ("value",), "must be a whole number"),
        (leaf("memory", value=2**31), ("value",), "must be between -2147483648 and 2147483647"),
        (leaf("memory", value=1, units="GB"), (), 'unknown attribute "units"'),
        ({"disk": [leaf("size", value=1, units="GBit")]}, ("disk", 0, "value"), None),
        ({"disk": [leaf("size", value=2**63)]}, ("disk", 0, "value"), None),
        (
            leaf("system_type", value="Toaster"),
            ("value",),
            "must be one of Machine, Prototype, Laptop, Resource",
        ),
        (leaf("hostname", value="x" * 256), ("value",), "must not be longer than 255 characters"),
        (leaf("hostname", value="a\u0007"), ("value",), "must not contain control characters"),
        (leaf("hostname", value=["a"]), ("value",), "must be text"),
        (leaf("device", bus="pci", driver=[]), ("driver",), "must be text"),
        (leaf("key_value", key={}, value="1"), ("key",), "must be text"),
        (leaf("system/compatible_with_distro", arch="a", osmajor="b", osminor="c\n"), ("osminor",), None),
        (leaf("pool", op="!=", value=None), (), "needs value"),
        (
            leaf("system/last_inventoried", value="2026-02-30"),
            ("value",),
            "must be a day, YYYY-MM-DD, or empty for never",
        ),
        (
            leaf("system/last_inventoried", op=">", value=""),
            ("value",),
            "an empty value requires the operator = or !=",
        ),
        ({"nand": []}, (), "must be an object with one of and, or, not, disk, element"),
        ({"and": [], "or": []}, (), "must be an object with one of and, or, not, disk, element"),
        ({"and": {}}, ("and",), "must be a list"),
        ({"and": [3]}, ("and", 0), "must be an object"),
        ([], (), "must be an object"),
        ({"force": "a", "and": []}, (), "a forced system cannot be combined with other requirements"),
        ({"force": ""}, ("force",), "must name a system"),
    ],
)
def test_fault__one_in_a_form__reported_once_at_its_path(
    form: Any, path: tuple[str | int, ...], message: str | None
) -> None:
    ((found_path, found),) = messages(form)
    assert found_path == path
    assert message is None or found == message


def test_faults__many__all_reported() -> None:
    form = {"and": [leaf("a", value=1), {"not": [leaf("memory", value="b"), leaf("c", value=1)]}]}
    assert [path for path, _ in messages(form)] == [
        ("and", 0),
        ("and", 1, "not", 0, "value"),
        ("and", 1, "not", 1),
    ]


def test_depth__above_limit__is_a_fault() -> None:
    form: dict[str, Any] = leaf("memory", value=1)
    for _ in range(60):
        form = {"not": [form]}
    assert [message for _, message in messages(form)] == ["is nested deeper than 50 levels"]


def test_elements__above_limit__one_fault() -> None:
    form = {"or": [leaf("memory", value=number) for number in range(1100)]}
    assert [message for _, message in messages(form)] == ["there are more than 1000 elements"]


def test_mentions__of_every_kind__are_named_with_their_paths() -> None:
    form = {
        "and": [
            leaf("pool", value="big"),
            leaf("arch", value="i386"),
            leaf("key_value", key="HVM", op="like", value="1%"),
            leaf("system/owner", op="!=", value="ada"),
            leaf("hostlabcontroller", value="lab"),
            leaf("system/powertype", value="ipmi"),
            leaf("system/compatible_with_distro", arch="s390x", osmajor="F"),
        ]
    }
    assert [tuple(each) for each in HOST.examine(form).mentions] == [
        (("and", 0, "value"), "pools", "big", False),
        (("and", 1, "value"), "arches", "i386", False),
        (("and", 2, "key"), "keys", "HVM", False),
        (("and", 3, "value"), "users", "ada", True),
        (("and", 4, "value"), "lab_controllers", "lab", False),
        (("and", 5, "value"), "power_types", "ipmi", False),
        (("and", 6, "arch"), "arches", "s390x", False),
    ]


@pytest.mark.parametrize(
    "form",
    [
        leaf("pool", value=""),
        leaf("group", op="like", value="b%"),
        leaf("arch", op="like", value="%"),
        leaf("system/user", op=">", value="m"),
        leaf("system/vendor", value="Dell"),
    ],
)
def test_mentions__value_is_no_name__none(form: dict[str, Any]) -> None:
    assert HOST.examine(form).mentions == ()


def test_value__in_many_spellings__has_one_text() -> None:
    for one, other in (
        (leaf("cpu/speed", value=2500), leaf("cpu/speed", op="==", value=" 2500.0")),
        (leaf("cpu/hyper", value="1"), leaf("cpu/hyper", value=True)),
        (leaf("auto_prov", value="yes"), leaf("auto_prov", value="True")),
        (leaf("system/status", value="broken"), leaf("system/status", value="Broken")),
        (leaf("group", value="big"), leaf("pool", op="==", value="big")),
        (leaf("diskspace", value=1, units="KiB"), leaf("diskspace", value="1024")),
    ):
        assert to_text(parse(one, refuse)) == to_text(parse(other, refuse))


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
