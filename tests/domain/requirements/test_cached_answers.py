"""Cached answers about many systems, which changes of systems invalidate."""

from __future__ import annotations

from typing import Any

import pytest

from domain.requirements import Columns, Ternary, evaluate
from tests.domain.requirements.evaluation import read

LARGE = {"memory_mb": 8192, "key_values": {"A": ["2"]}, "devices": [{"driver": "e2"}]}
SMALL = {"memory_mb": 1024, "key_values": {"A": ["1"]}, "devices": [{"driver": "e1"}]}
STEPS: list[tuple[int, dict[str, Any]]] = [
    (0, {"fqdn": "a1", **LARGE, "disks": [{"size_bytes": 5}], "pools": ["net"]}),
    # A new system.
    (1, {"fqdn": "b1", **SMALL, "disks": [{"size_bytes": 1}]}),
    # A change of a property that no requirement names.
    (1, {"fqdn": "b1", **SMALL, "disks": [{"size_bytes": 1}], "numa_nodes": 2}),
    # A change of all properties.
    (0, {"fqdn": "b2", **SMALL, "disks": None}),
    (1, {"fqdn": "a2", **LARGE, "disks": [{"size_bytes": 5}], "pools": ["net", "gpu"]}),
]
FORMS = [
    {"element": "hostname", "op": "like", "value": "a%"},
    {"element": "memory", "op": ">=", "value": 4096},
    {"element": "memory", "op": "==", "value": 1024},
    {"element": "pool", "op": "!=", "value": "net"},
    {"element": "pool", "op": "==", "value": ""},
    {"element": "key_value", "key": "A", "op": ">=", "value": "2"},
    {"element": "device", "op": "!=", "driver": "e1"},
    {"disk": [{"element": "size", "op": ">=", "value": 2}]},
    {
        "not": [
            {"element": "memory", "op": "<", "value": 4096},
            {"element": "pool", "op": "!=", "value": "gpu"},
        ]
    },
]


@pytest.mark.parametrize("form", FORMS)
def test_answer__after_each_change__is_up_to_date(form: dict[str, Any]) -> None:
    kept = Columns()
    for step, (number, inventory) in enumerate(STEPS, start=1):
        kept.put(number, {"type": "Machine", **inventory})
        assert evaluate(read(form), kept) == evaluate(read(form), _rebuilt(STEPS[:step]))


def _rebuilt(steps: list[tuple[int, dict[str, Any]]]) -> Columns:
    columns = Columns()
    for number, inventory in steps:
        columns.put(number, {"type": "Machine", **inventory})
    return columns


def test_answers__more_than_the_cache_holds__correct() -> None:
    columns = _rebuilt(STEPS)
    for number in range(3_000):
        form = {"element": "memory", "op": ">=", "value": number}
        assert evaluate(read(form), columns) == Ternary(0b11 if number <= 1024 else 0b10, 0)
    assert sum(map(len, columns.kept.values())) < 3_000
