"""Columns: many systems at once give the answers of one at a time, at the cost of one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.requirements import Columns, Ternary, evaluate, matching, parse, properties
from domain.requirements import columns as columns_module
from tests.domain.requirements.asking import read, refuse
from tests.domain.requirements.reference import judge

INVENTORIES = st.fixed_dictionaries(
    {"fqdn": st.sampled_from(["a.lab", "B.lab", "old-1"]), "type": st.sampled_from(["Machine", "Laptop"])},
    optional={
        "memory_mb": st.sampled_from([None, 0, 4096, 8192]),
        "hypervisor": st.sampled_from([None, "", "KVM"]),
        "arches": st.none() | st.lists(st.sampled_from(["x86_64", "i386"]), unique=True),
        "pools": st.none() | st.lists(st.sampled_from(["big", "small"]), unique=True),
        "cpu": st.none() | st.fixed_dictionaries({}, optional={"sockets": st.none() | st.integers(1, 3)}),
        "disks": st.none()
        | st.lists(st.fixed_dictionaries({"size_bytes": st.none() | st.integers(1, 4)}), max_size=3),
        "devices": st.none()
        | st.lists(
            st.fixed_dictionaries(
                {"type": st.just("NETWORK"), "driver": st.sampled_from(["e1", "e2", None])}
            ),
            max_size=2,
        ),
    },
)

NUMBERS = st.sampled_from(["==", "!=", ">", ">=", "<", "<="])


def leaves(element: str, ops: Any, values: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"element": st.just(element), "op": ops, "value": st.sampled_from(values)})


SIZES = leaves("size", NUMBERS, [1, 2, 3])
EQUAL = st.sampled_from(["==", "!="])
LEAVES = st.one_of(
    leaves("memory", NUMBERS, [0, 4096, 8192]),
    leaves("hostname", st.sampled_from(["==", "!=", "like"]), ["a.LAB", "old-%", "%l_b"]),
    leaves("hypervisor", EQUAL, ["", "kvm"]),
    leaves("system_type", EQUAL, ["Machine", "Laptop"]),
    leaves("arch", EQUAL, ["x86_64", "i386"]),
    leaves("pool", EQUAL, ["", "big"]),
    leaves("cpu/sockets", NUMBERS, [1, 2]),
    st.builds(
        lambda op, driver: {"element": "device", "op": op, "driver": driver},
        EQUAL,
        st.sampled_from(["e1", "E2"]),
    ),
    st.builds(
        lambda inner: {"disk": inner}, st.lists(SIZES | st.builds(lambda s: {"not": [s]}, SIZES), max_size=2)
    ),
)


def joined(forms: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda word, inner: {word: inner}, st.sampled_from(["and", "or", "not"]), st.lists(forms, max_size=3)
    )


FORMS = st.recursive(LEAVES, joined, max_leaves=8)
LABS = st.lists(INVENTORIES, max_size=6)


def lab(inventories: list[Mapping[str, Any]]) -> Columns:
    columns = Columns()
    for number, inventory in enumerate(inventories):
        columns.put(number, inventory)
    return columns


def asked(form: dict[str, Any], inventories: list[Mapping[str, Any]]) -> Ternary:
    return evaluate(read(form), lab(inventories))


@given(FORMS, LABS)
def test_columns__any_requirement__answer_like_one_system_at_a_time(
    form: dict[str, Any], systems: list[Any]
) -> None:
    held = asked(form, systems)
    answers = [judge(form, system) for system in systems]
    assert held.true == sum(1 << number for number, said in enumerate(answers) if said is True)
    assert held.unknown == sum(1 << number for number, said in enumerate(answers) if said is None)


@given(FORMS, LABS)
def test_double_negation__any_requirement__changes_nothing(form: dict[str, Any], systems: list[Any]) -> None:
    assert asked({"not": [{"not": [form]}]}, systems) == asked(form, systems)


@given(st.lists(LEAVES, min_size=2, max_size=3), LABS)
def test_de_morgan__any_leaves__holds(forms: list[dict[str, Any]], systems: list[Any]) -> None:
    negated = [{"not": [form]} for form in forms]
    assert asked({"not": [{"or": forms}]}, systems) == asked({"and": negated}, systems)
    assert asked({"not": forms}, systems) == asked({"or": negated}, systems)


@given(st.lists(LEAVES, max_size=4), LABS, st.sampled_from(["and", "or", "not"]))
def test_order__of_children__does_not_matter(
    forms: list[dict[str, Any]], systems: list[Any], word: str
) -> None:
    assert asked({word: forms}, systems) == asked({word: forms[::-1]}, systems)


@given(FORMS, INVENTORIES, INVENTORIES, LABS)
def test_put__system_changed__leaves_what_a_fresh_lab_has(
    form: dict[str, Any], before: Any, after: Any, systems: list[Any]
) -> None:
    for asked_before in (True, False):
        columns = lab([before, *systems])
        if asked_before:
            evaluate(read(form), columns)
        columns.put(0, after)
        assert evaluate(read(form), columns) == asked(form, [after, *systems])


@given(FORMS, INVENTORIES, INVENTORIES)
def test_change__of_other_properties__changes_no_answer(
    form: dict[str, Any], before: Any, after: Any
) -> None:
    columns, node = lab([before]), read(form)
    held = evaluate(node, columns)
    about = [columns.vocabulary.properties[name] for name in properties(node)]
    if all(each.read(before) == each.read(after) for each in about):
        columns.put(0, after)
        assert evaluate(node, columns) == held


def test_column__asked_for_early_or_late__is_the_same() -> None:
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
        assert early[name].known == late[name].known
    assert late["pools"].holders == {"x": 0b1000, "y": 0b1000001001}
    assert (late["memory_mb"].holders, late["memory_mb"].known) == ({2: 1}, 1)


def test_put__one_property_changed__answers_about_others_are_kept() -> None:
    columns = lab([{"fqdn": "a", "memory_mb": 1, "pools": ["x"]}])
    for about in ("memory", "pool"):
        evaluate(read({"element": about, "op": "!=", "value": "7"}), columns)
    assert [name for name, kept in columns.kept.items() if kept] == ["type", "memory_mb", "pools"]
    columns.put(0, {"fqdn": "a", "memory_mb": 1, "pools": ["x"], "numa_nodes": 2})
    assert [name for name, kept in columns.kept.items() if kept] == ["type", "memory_mb", "pools"]
    columns.put(0, {"fqdn": "a", "memory_mb": 2, "pools": ["x"]})
    assert [name for name, kept in columns.kept.items() if kept] == ["type", "pools"]


def test_leaf__thousand_systems_of_two_kinds__is_tested_twice(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_like__hostile_pattern__does_not_backtrack() -> None:
    columns = lab([{"fqdn": "a" * 255, "type": "Machine"}])
    node = read({"element": "hostname", "op": "like", "value": "%a" * 120 + "%b"})
    assert matching(node, columns) == 0


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


def test_forced__any_case__matches_that_system_alone() -> None:
    columns = lab([{"fqdn": "a.lab", "type": "Laptop"}, {"fqdn": "b.lab", "type": "Machine"}])
    assert matching(parse({"force": "A.lab"}, refuse), columns) == 0b01
