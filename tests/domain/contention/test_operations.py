"""The operation table: its shipped rows, parameters, configured rows, and faults."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from domain.contention.documents import locks_from_json, locks_to_json, raising
from domain.contention.locks import NO_LOCKS
from domain.contention.operation_rows import OperationRow, read_rows, row_to_json
from domain.contention.operations import SHIPPED, OperationTable
from domain.errors import FaultyInput


def rows_of(document: object) -> tuple[OperationRow, ...]:
    return raising(lambda report: read_rows(document, ("operations",), report))


ROWS = rows_of(
    [
        {
            "operation": "move",
            "tasks": ["/lab/move", "/lab/copy"],
            "locks": {
                "system": {"Exclusive": ["$system", "{TARGET}"]},
                "network": [{"Shared": ["backbone"]}, {"Exclusive": ["{NET}"]}],
            },
        },
        {"operation": "scan", "tasks": ["/lab/scan", "/lab/copy"], "locks": {"pool": "AllShared"}},
        {"operation": "idle"},
    ]
)
TABLE = OperationTable(ROWS)

SHIPPED_OPERATIONS = [
    *("power-cycle", "firmware-update", "network-change", "storage-move", "inventory-scan"),
    *("pool-maintenance", "lab-maintenance", "provision", "reserve"),
]


def resolved(
    task: str, params: Mapping[str, str] = MappingProxyType({}), table: OperationTable = TABLE
) -> dict[str, Any] | None:
    found = raising(lambda report: table.resolve(task, params, ("params",), report))
    return None if found is None else locks_to_json(found)


def test_shipped__table__has_the_operations_of_the_issue() -> None:
    assert [row.operation for row in SHIPPED.rows] == SHIPPED_OPERATIONS
    assert all(row.tasks for row in SHIPPED.rows)


@pytest.mark.parametrize("operation", SHIPPED_OPERATIONS)
def test_shipped__each_operation__declares_locks_but_for_provision_and_reserve(operation: str) -> None:
    found = resolved("/any", {"LABLEDGER_OPERATION": operation}, SHIPPED)
    assert found is not None
    assert (found == {}) == (operation in ("provision", "reserve"))
    assert (found == {"whole_lab": True}) == (operation == "lab-maintenance")


SHIPPED_CASES = [
    (
        "/labledger/network-change",
        {"NETWORK": "n1"},
        {"network": {"Exclusive": ["n1"]}, "system": {"Shared": ["$system"]}},
    ),
    ("/labledger/pool-maintenance", {"POOL": "big"}, {"pool": {"Exclusive": ["big"]}}),
    ("/labledger/pool-maintenance", {}, {"pool": "UnknownExclusive"}),
    ("/labledger/lab-maintenance", {}, {"whole_lab": True}),
    ("/distribution/check-install", {}, {}),
    ("/distribution/reservesys", {}, {}),
    ("/kernel/smoke", {}, None),
]


@pytest.mark.parametrize(("task", "params", "expected"), SHIPPED_CASES)
def test_shipped__task_of_a_row__declares_its_locks(
    task: str, params: dict[str, str], expected: dict[str, Any] | None
) -> None:
    assert resolved(task, params, SHIPPED) == expected


def test_resolve__parameters__take_the_place_of_their_names() -> None:
    assert resolved("/lab/move", {"TARGET": "t1", "NET": "n1"}) == {
        "system": {"Exclusive": ["$system", "t1"]},
        "network": [{"Shared": ["backbone"]}, {"Exclusive": ["n1"]}],
    }
    # The same name in both parts is exclusive.
    found = resolved("/lab/move", {"TARGET": "t1", "NET": "backbone"})
    assert found is not None
    assert found["network"] == {"Exclusive": ["backbone"]}


@pytest.mark.parametrize("params", [{"NET": "n1"}, {"NET": "n1", "TARGET": ""}, {"NET": "n1", "TARGET": " "}])
def test_resolve__missing_parameter__makes_the_unknown_kind(params: dict[str, str]) -> None:
    found = resolved("/lab/move", params)
    assert found is not None
    assert found["system"] == "UnknownExclusive"


def test_resolve__operation_parameter__adds_its_row_to_those_of_the_name() -> None:
    by_name = resolved("/lab/move")
    assert by_name is not None
    assert resolved("/lab/move", {"LABLEDGER_OPERATION": "scan"}) == {**by_name, "pool": "AllShared"}
    assert resolved("/any", {"LABLEDGER_OPERATION": "scan"}) == {"pool": "AllShared"}
    assert resolved("/any", {"LABLEDGER_OPERATION": "idle"}) == {}
    # An operation without locks takes none away.
    for operation in ("idle", "move"):
        assert resolved("/lab/move", {"LABLEDGER_OPERATION": operation}) == by_name


def test_operations_of__name_and_parameter__has_each_operation_once() -> None:
    assert TABLE.operations_of("/lab/copy", {"LABLEDGER_OPERATION": "idle"}) == ("move", "scan", "idle")
    assert TABLE.operations_of("/lab/copy", {"LABLEDGER_OPERATION": "move"}) == ("move", "scan")
    assert TABLE.operations_of("/any", {"LABLEDGER_OPERATION": "move"}) == ("move",)


def test_resolve__task_of_several_rows__declares_the_locks_of_all() -> None:
    found = resolved("/lab/copy", {"TARGET": "t1", "NET": "n1"})
    assert found is not None
    assert found.keys() == {"system", "network", "pool"}


def test_resolve__task_without_row__is_none() -> None:
    assert resolved("/kernel/smoke") is None


@pytest.mark.parametrize("operation", ["drill", ""])
def test_resolve__unknown_operation__raises_with_the_operations(operation: str) -> None:
    with pytest.raises(FaultyInput) as raised:
        resolved("/lab/move", {"LABLEDGER_OPERATION": operation})
    (fault,) = raised.value.faults
    assert fault.where == "params.LABLEDGER_OPERATION"
    assert fault.message == f'there is no operation "{operation}"; must be one of move, scan, idle'


def test_merged_with__configured_rows__replaces_rows_and_adds_rows() -> None:
    scan = OperationRow("scan", ("/lab/look",), locks_from_json({"pool": "AllExclusive"}, "locks"))
    reserve = OperationRow("reserve", (), NO_LOCKS)
    table = TABLE.merged_with([scan, reserve])
    assert [row.operation for row in table.rows] == ["move", "scan", "idle", "reserve"]
    assert resolved("/lab/look", table=table) == {"pool": "AllExclusive"}
    assert resolved("/lab/scan", table=table) is None
    # The table itself stays.
    assert resolved("/lab/scan") == {"pool": "AllShared"}
    assert TABLE.rows == ROWS


def test_row__whole_lab_beside_its_locks__is_among_them() -> None:
    beside, among = {"whole_lab": True}, {"locks": {"whole_lab": True}}
    assert rows_of([{"operation": "a", **beside}]) == rows_of([{"operation": "a", **among}])


def test_row__tasks_in_another_order_or_repeated__is_equal() -> None:
    (one,) = rows_of([{"operation": "a", "tasks": ["/y", "/x", "/y"]}])
    assert one.tasks == ("/x", "/y")


@pytest.mark.parametrize("row", [*ROWS, *SHIPPED.rows], ids=lambda row: row.operation)
def test_row__as_json_and_back__is_equal(row: OperationRow) -> None:
    assert rows_of([row_to_json(row)]) == (row,)


FAULTS: list[tuple[Any, dict[str, str]]] = [
    ({}, {"operations": "must be a list"}),
    (["scan"], {"operations[0]": "must be an object"}),
    ([{}], {"operations[0].operation": "is missing"}),
    ([{"operation": " "}], {"operations[0].operation": "must not be empty"}),
    ([{"operation": None}], {"operations[0].operation": "must be a text"}),
    ([{"operation": "a\0"}], {"operations[0].operation": "must not contain control characters"}),
    ([{"operation": "a", "tasks": "/x"}], {"operations[0].tasks": "must be a list"}),
    (
        [{"operation": "a", "tasks": ["/x", "", 7, "\ud800"]}],
        {
            "operations[0].tasks[1]": "must not be empty",
            "operations[0].tasks[2]": "must be a text",
            "operations[0].tasks[3]": "must not contain control characters",
        },
    ),
    (
        [{"operation": "a", "task": ["/x"]}],
        {"operations[0].task": "is unknown; the fields are operation, tasks, locks, whole_lab"},
    ),
    ([{"operation": "a"}, {"operation": "a"}], {"operations[1].operation": '"a" occurs twice'}),
    ([{"operation": "a", "locks": {"rack": "None"}}], {"operations[0].locks.rack": "unknown level"}),
    ([{"operation": "a", "whole_lab": "yes"}], {"operations[0].whole_lab": "must be true or false"}),
    ([{"operation": "a", "locks": None}], {"operations[0].locks": "must be an object"}),
    (
        [{"operation": "a", "locks": {"network": {"Shared": ["net-{N}"]}}}],
        {"operations[0].locks": '"net-{N}" is neither a literal name nor {PARAMETER} alone'},
    ),
    (
        [{"operation": "a", "locks": {"network": {"Shared": ["{}"]}}}],
        {"operations[0].locks": '"{}" is neither a literal name'},
    ),
    # All faults of all rows are reported together.
    (
        [{"tasks": 1, "locks": {"pool": "X"}}, {"operation": "b"}, {"operation": "c", "more": 1}],
        {
            "operations[0].operation": "is missing",
            "operations[0].tasks": "must be a list",
            "operations[0].locks.pool": "unknown kind",
            "operations[2].more": "is unknown",
        },
    ),
]


@pytest.mark.parametrize(("document", "expected"), FAULTS)
def test_rows__faulty_document__has_every_fault_with_its_place(
    document: object, expected: dict[str, str]
) -> None:
    with pytest.raises(FaultyInput) as raised:
        rows_of(document)
    found = {fault.where: fault.message for fault in raised.value.faults}
    assert len(raised.value.faults) == len(expected)
    assert found.keys() == expected.keys()
    for where, message in expected.items():
        assert message in found[where]
