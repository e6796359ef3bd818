"""Parsing of forms to trees and canonical text, and the faults of invalid forms."""

from __future__ import annotations

from typing import Any

import pytest

from domain.requirements import All, Forced, Leaf, from_text, parse, to_form, to_text
from domain.requirements.host import HOST
from tests.domain.requirements.evaluation import messages, refuse

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
