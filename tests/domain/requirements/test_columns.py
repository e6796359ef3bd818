"""Columns of the inventory, cached answers and patterns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.requirements import Columns, evaluate, matching, parse, properties
from domain.requirements import columns as columns_module
from domain.requirements.patterns import like
from domain.requirements.vocabulary import SYSTEM
from replay.workload.generated_lab import generate_lab
from tests.domain.requirements.evaluation import evaluated, lab, read, refuse
from tests.domain.requirements.whole_language import FORMS, LABS, SYSTEMS


@given(FORMS, SYSTEMS, SYSTEMS, LABS)
def test_put__system_changed__equals_a_new_index(
    form: dict[str, Any], before: Any, after: Any, systems: list[Any]
) -> None:
    for asked_before in (True, False):
        columns = lab([before, *systems])
        if asked_before:
            evaluate(read(form), columns)
        columns.put(0, after)
        assert evaluate(read(form), columns) == evaluated(form, [after, *systems])


@given(FORMS, SYSTEMS, SYSTEMS)
def test_change__of_other_properties__changes_no_answer(
    form: dict[str, Any], before: Any, after: Any
) -> None:
    columns, node = lab([before]), read(form)
    held = evaluate(node, columns)
    about = [columns.vocabulary.properties[name] for name in properties(node)]
    if all(each.read(before) == each.read(after) for each in about):
        columns.put(0, after)
        assert evaluate(node, columns) == held


def test_column__built_early_or_late__equal() -> None:
    steps: list[tuple[int, dict[str, Any]]] = [
        (0, {"fqdn": "a", "memory_mb": 1, "pools": ["x", "y"]}),
        (9, {"fqdn": "b", "memory_mb": 1, "pools": []}),
        (0, {"fqdn": "a", "memory_mb": 2, "pools": ["y"]}),
        (3, {"fqdn": "c", "pools": ["x", "y"]}),
        (9, {"fqdn": "b", "pools": ["y"]}),
    ]
    early, late = Columns(), Columns()
    for name in early.vocabulary.properties:
        assert early[name].holders == {}
    for number, inventory in steps:
        early.put(number, inventory)
        late.put(number, inventory)
    for name in early.vocabulary.properties:
        assert early[name].holders == late[name].holders
        assert early[name].with_value == late[name].with_value
    assert late["pools"].holders == {"x": 0b1000, "y": 0b1000001001}
    assert (late["memory_mb"].holders, late["memory_mb"].with_value) == ({2: 1}, 1)


def test_put__one_property_changed__other_cached_answers_remain() -> None:
    columns = lab([{"fqdn": "a", "memory_mb": 1, "pools": ["x"]}])
    for about in ("memory", "pool"):
        evaluate(read({"element": about, "op": "!=", "value": "7"}), columns)
    assert [name for name, kept in columns.kept.items() if kept] == ["type", "memory_mb", "pools"]
    columns.put(0, {"fqdn": "a", "memory_mb": 1, "pools": ["x"], "numa_nodes": 2})
    assert [name for name, kept in columns.kept.items() if kept] == ["type", "memory_mb", "pools"]
    columns.put(0, {"fqdn": "a", "memory_mb": 2, "pools": ["x"]})
    assert [name for name, kept in columns.kept.items() if kept] == ["type", "pools"]


def test_leaf__thousand_systems_with_two_values__tested_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = lab(
        [
            {"fqdn": f"s{number}", "type": "Machine", "memory_mb": 4096 * (1 + number % 2)}
            for number in range(1000)
        ]
    )
    node = parse({"element": "memory", "op": ">", "value": 5000}, refuse)
    tested: list[int] = []

    def counting(_op: str, operand: int) -> Callable[[int], bool]:
        def passes(value: int) -> bool:
            tested.append(value)
            return value > operand

        return passes

    monkeypatch.setattr(columns_module, "test", counting)
    assert matching(node, columns).bit_count() == 500
    assert sorted(tested) == [4096, 8192]


def test_properties__of_every_kind_of_node__are_named() -> None:
    form = {
        "or": [
            {"element": "key_value", "key": "k"},
            {"not": [{"disk": []}]},
            {"element": "device", "bus": "pci"},
        ]
    }
    assert properties(parse(form, refuse)) == {"key_values", "disks", "devices", "type"}
    assert properties(parse({"force": "a"}, refuse)) == {"fqdn"}


def test_forced__any_case__matches_only_that_system() -> None:
    columns = lab([{"fqdn": "a.lab", "type": "Laptop"}, {"fqdn": "b.lab", "type": "Machine"}])
    assert matching(parse({"force": "A.lab"}, refuse), columns) == 0b01


@pytest.mark.parametrize("name", SYSTEM.properties)
def test_property__any__read_only_from_its_fields(name: str) -> None:
    about = SYSTEM.properties[name]
    for inventory in generate_lab(1, 2, 40)["systems"]:
        fields = {field: inventory[field] for field in about.fields if field in inventory}
        assert about.read(fields) == about.read(inventory)


PIECES = st.text("ab%_.*", max_size=8)
TEXTS = st.text("ab.*\n", max_size=8)


def plainly(pattern: str, text: str) -> bool:
    expression = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


@given(PIECES, TEXTS)
# Head and tail would overlap.
@example("ab%ba", "aba")
@example("a%b%b", "ab")
# The leftmost match of a piece leaves no room for the tail.
@example("%ab%b", "abab")
@example("%%", "")
@example("", "")
def test_pattern__any__matches_like_a_plain_search(pattern: str, text: str) -> None:
    assert like(pattern)(text) is plainly(pattern, text)


def test_pattern__hostile__matched_in_linear_time() -> None:
    for pattern in ("%a" * 120 + "%b", "%_a" * 80 + "%b", "a%" * 120 + "b"):
        assert not like(pattern)("a" * 250 + "c")
