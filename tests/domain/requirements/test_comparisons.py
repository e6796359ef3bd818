"""Comparisons of properties, devices and distro trees."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import replay
from domain.requirements import Columns, distro, evaluate, to_text, vocabulary
from domain.requirements.comparisons import DEVICE_COST, comparisons
from domain.requirements.host import HOST
from tests.domain.requirements.evaluation import answer, lab, refuse

SYSTEMS = [
    {
        "fqdn": f"m{number}",
        "type": "Machine",
        "memory_mb": 4096 * (number % 2),
        "devices": [{"driver": "e1000"}, {"driver": f"d{number % 3}"}],
        "disks": [{"size_bytes": 1}, {"size_bytes": number % 4}],
        "key_values": {"A": [str(number % 5)]},
    }
    for number in range(100)
]
# The implicit question for the type Machine: one look-up.
MACHINE = 1


def cost(*forms: dict[str, Any], columns: Columns | None = None) -> int:
    nodes = [HOST.parse(form, refuse) for form in forms]
    return comparisons(nodes, columns or lab(SYSTEMS)) - MACHINE


def like(pattern: str) -> dict[str, Any]:
    return {"element": "hostname", "op": "like", "value": pattern}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        # Equality is one look-up for any number of values.
        ({"element": "hostname", "op": "=", "value": "m1"}, 1),
        ({"element": "hostname", "op": "!=", "value": "m1"}, 1),
        (like("m%"), 100),
        (like("%m%"), 100),
        # Each further piece of a pattern counts.
        (like("%m%1%_%"), 400),
        ({"element": "hostname", "op": ">", "value": "m1"}, 100),
        # Distinct values are compared, not systems.
        ({"element": "memory", "op": ">", "value": 1}, 2),
        ({"element": "device", "op": "=", "driver": "e1000"}, 4 * DEVICE_COST),
        ({"element": "key_value", "key": "A", "op": "=", "value": "1"}, 5),
        ({"disk": [{"element": "size", "op": ">", "value": 2}]}, 8),
    ],
)
def test_comparisons__one_question__by_number_of_distinct_values(form: dict[str, Any], expected: int) -> None:
    assert cost(form) == expected


def test_comparisons__same_question_in_many_requirements__counts_once() -> None:
    other = {"and": [like("m%"), {"element": "memory", "op": "=", "value": 1}]}
    assert cost(like("m%"), other, other) == 100 + 1


def test_comparisons__more_questions_than_cache_entries__count_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("domain.requirements.comparisons.MAX_CACHED", 2)
    three = {"or": [like("a%"), like("b%"), like("c%")]}
    assert cost(three, {"and": [three, like("a%")]}) == 700


def test_disk__many_systems_with_equal_disks__evaluated_once_per_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns, asked = lab(SYSTEMS), 0
    evaluating = sys.modules["domain.requirements.evaluate"]
    scalar = evaluating._scalar

    def counted(*args: Any) -> int:
        nonlocal asked
        asked += 1
        return scalar(*args)

    monkeypatch.setattr(evaluating, "_scalar", counted)
    form = {"disk": [{"element": "size", "op": ">", "value": 2}]}
    evaluate(HOST.parse(form, refuse), columns)
    # Once for the type of the systems, once for all disks.
    assert asked == 2


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
        ({"op": "!=", "vendor_id": "14E4"}, {"devices": []}, True),
        ({"op": "like", "driver": "e1%"}, NICS, True),
        # a type is never a pattern
        ({"op": "like", "type": "NET%"}, NICS, False),
        ({"op": "like", "driver": "%"}, {}, False),
        ({"driver": "ixgbe"}, {"devices": None}, False),
        ({"bus": "pci"}, NICS, False),
    ],
)
def test_device__one_system__answer_of_table(
    attributes: dict[str, Any], inventory: dict[str, Any], expected: bool
) -> None:
    asked = {"element": "device", **attributes}
    assert answer(asked, inventory) is expected
    assert answer({"not": [asked]}, inventory) is not expected


OF_DEVICES = ("type", "bus", "driver", "vendor_id", "device_id", "subsys_vendor_id", "subsys_device_id")
OF_ONE_DEVICE = [
    # op, value, and the answers if a device has "14E4", and if no device has the attribute
    ("=", "14e4", True, False),
    ("==", "14E4", True, False),
    ("=", "8086", False, False),
    ("=", "14%", False, False),
    ("!=", "14E4", False, True),
    ("!=", "8086", True, True),
    ("like", "14E4", True, False),
    ("like", "1_e%", True, False),
    ("like", "8%", False, False),
]
WITHOUT: list[dict[str, Any]] = [{}, {"devices": None}, {"devices": []}, {"devices": [{}]}]


@pytest.mark.parametrize("attribute", (*OF_DEVICES, "description"))
@pytest.mark.parametrize(("op", "value", "held", "lacking"), OF_ONE_DEVICE)
def test_device__each_attribute__answer_of_table(
    attribute: str, op: str, value: str, held: bool, lacking: bool
) -> None:
    asked = {"element": "device", "op": op, attribute: value}
    if attribute == "type" and "_" in value:
        held = False  # A type is never a pattern.
    answers = [(having, held) for having in ({attribute: "14E4"}, {attribute: "14e4", "bus": "14e4"})]
    answers += [({attribute: None}, lacking)]
    for device, said in answers:
        assert answer(asked, {"devices": [{}, device]}) is said, device
    for inventory in WITHOUT:
        assert answer(asked, inventory) is lacking, inventory


def test_table__of_devices__has_each_attribute() -> None:
    assert {*vocabulary.SYSTEM.elements["device"].attributes} == {*OF_DEVICES, "description"}


TREES = json.loads(Path(replay.__path__[0], "samples", "lab.json").read_text())["distro_trees"]


def fitting(form: dict[str, Any], trees: Any = TREES) -> list[int]:
    node = distro.from_text(to_text(distro.parse(form, refuse)))
    return list(distro.NewestFirst(trees).fitting(node))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"element": "distro_name", "value": "rhel-9.6"}, [2, 1]),
        ({"element": "name", "op": "like", "value": "RHEL-9%"}, [2, 1]),
        ({"element": "family", "value": "Fedora44"}, [4, 3]),
        (
            {
                "and": [
                    {"element": "family", "value": "Fedora44"},
                    {"element": "distro_arch", "value": "x86_64"},
                ]
            },
            [3],
        ),
        ({"element": "tag", "op": "!=", "value": "RELEASED"}, [4, 3]),
        ({"and": [{"element": "tag", "value": "released"}, {"element": "arch", "value": "aarch64"}]}, [2]),
        ({"not": [{"element": "variant", "value": "Server"}]}, []),
        ({"or": [{"element": "name", "value": "nothing"}, {"element": "name", "value": "RHEL-9.6"}]}, [2, 1]),
        # in a lab, by every spelling
        ({"element": "labcontroller", "value": "LAB.west.example.com"}, [4, 3, 2, 1]),
        ({"element": "distro_labcontroller", "op": "!=", "value": "lab.west.example.com"}, [5]),
        ({"element": "distrolabcontroller", "op": "like", "value": "%.west.%"}, [4, 3, 2, 1]),
        # these two elements never had an effect
        (
            {"and": [{"element": "distro_virt", "value": ""}, {"element": "method", "value": "nfs"}]},
            [5, 4, 3, 2, 1],
        ),
    ],
)
def test_fitting__sample_lab__matching_trees_newest_first(form: dict[str, Any], expected: list[int]) -> None:
    assert fitting(form) == expected


def test_fitting__equal_times__higher_id_first() -> None:
    trees = [{"id": number, "name": "n", "added_at": "2026-01-01T00:00:00Z"} for number in (9, 11, 10)]
    assert fitting({}, trees) == [11, 10, 9]


def test_tag__compared_by_order__is_refused() -> None:
    said: list[str] = []
    distro.parse({"element": "tag", "op": ">", "value": "x"}, lambda _, message: said.append(message))
    assert said == ["must be one of = == != like"]
