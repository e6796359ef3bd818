"""Estimates of the work to evaluate requirements."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from domain.requirements import Columns, evaluate
from domain.requirements.comparisons import DEVICE_COST, comparisons
from domain.requirements.host import HOST
from tests.domain.requirements.evaluation import lab, refuse

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
