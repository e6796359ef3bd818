"""The configuration of a partition: defaults, JSON form, and the faults of a document."""

from __future__ import annotations

from typing import Any

import pytest

from domain.admission.configuration import (
    ClaimSection,
    Configuration,
    LimitSection,
    LockSection,
    OrderSection,
    PreemptionSection,
    configuration_from_json,
    configuration_to_json,
    stored_configuration,
)
from domain.contention.locks import LEVELS, UNKNOWN, LevelLock, Locks
from domain.contention.operation_rows import OperationRow
from domain.contention.weights import WeightSettings, WeightValues
from domain.queues.placement import PlacementRule
from domain.queues.tree import Queue, QueueTree, Template
from tests.domain.admission.findings import faulty, valid


def read(document: Any) -> Configuration:
    return valid(lambda path, report: configuration_from_json(document, path, report))


def faults_of(document: Any) -> list[tuple[str, str]]:
    return faulty(lambda path, report: configuration_from_json(document, path, report))


DEFAULTS: dict[str, Any] = {
    "order": {"assigned_first": "within_priority", "most_overtaken": 8},
    "weights": {
        "enabled": True,
        "base": 1,
        "values": {"none": 0, "degrade": 0.3, "heavy_degrade": 0.5, "maybe": 1.5, "sure": 3},
        "tick_seconds": 30,
        "coefficient": 30,
    },
    "locks": {"most_overtaken": 8},
    "limits": {"placed_recipes": None},
    "claims": {"after_ticks": None, "for_ticks": 120},
    "preemption": {"enabled": False, "after_seconds": 30, "again_after_seconds": 15, "most_per_job": 3},
    "operations": [],
    "lab_controllers": [],
    "queues": {"submit": {"users": ["*"]}, "queues": [{"name": "default"}]},
    "placement": [{"rule": "provided"}],
}
OTHERS = {
    "order": {"assigned_first": "always", "most_overtaken": None},
    "weights": {
        "enabled": False,
        "base": 0.125,
        "values": {"none": 0.001, "degrade": 2.5, "heavy_degrade": 2.5, "maybe": 7.007, "sure": 1000000},
        "tick_seconds": 1.125,
        "coefficient": 1,
    },
    "locks": {"most_overtaken": 0},
    "limits": {"placed_recipes": 0},
    "claims": {"after_ticks": 0, "for_ticks": 1},
    "preemption": {"enabled": True, "after_seconds": 0, "again_after_seconds": 0, "most_per_job": 0},
    "operations": [
        {"operation": "lab-maintenance", "tasks": [], "locks": {"whole_lab": True}},
        {
            "operation": "power-cycle",
            "tasks": ["/cycle", "/power"],
            "locks": {"system": "UnknownExclusive"},
        },
    ],
    "lab_controllers": ["lab-1", "lab-2"],
    "queues": {
        "submit": {},
        "template": {"max": 2},
        "queues": [{"name": "kernel", "max": 4}, {"name": "default"}],
    },
    "placement": [{"rule": "user", "create": True}, {"rule": "fixed", "value": "root.kernel"}],
}


@pytest.mark.parametrize("document", [DEFAULTS, OTHERS])
def test_document__whole__round_trips(document: Any) -> None:
    assert configuration_to_json(read(document)) == document
    assert stored_configuration(document) == read(document)


def test_document__whole__values_in_their_units() -> None:
    levels = tuple(LevelLock(exclusive=UNKNOWN) if level == "system" else LevelLock() for level in LEVELS)
    assert read(OTHERS) == Configuration(
        OrderSection("always", None),
        WeightSettings(False, 125, WeightValues(1, 2_500, 2_500, 7_007, 1_000_000_000), 1_125, 1),
        LockSection(0),
        LimitSection(0),
        ClaimSection(0, 1),
        PreemptionSection(True, 0, 0, 0),
        (
            OperationRow("lab-maintenance", (), Locks(whole_lab=True)),
            OperationRow("power-cycle", ("/cycle", "/power"), Locks(levels)),
        ),
        ("lab-1", "lab-2"),
        QueueTree(
            Queue(
                "root",
                template=Template(max=2),
                children=(Queue("root.kernel", max=4), Queue("root.default")),
            )
        ),
        (PlacementRule("user", create=True), PlacementRule("fixed", "root.kernel")),
    )


LISTS = ("operations", "lab_controllers", "placement")
PARTS: list[Any] = [
    {},
    {name: {} for name in DEFAULTS if name not in LISTS},
    {name: [] for name in LISTS},
    DEFAULTS,
]


@pytest.mark.parametrize("document", PARTS)
def test_document__parts_left_out__has_defaults(document: Any) -> None:
    assert read(document) == Configuration()


def test_document__one_field__others_keep_their_defaults() -> None:
    changed = read({"weights": {"values": {"sure": 4}}})
    assert configuration_to_json(changed)["weights"] == {
        **DEFAULTS["weights"],
        "values": {"none": 0, "degrade": 0.3, "heavy_degrade": 0.5, "maybe": 1.5, "sure": 4},
    }


EQUAL: list[tuple[Any, Any]] = [
    ({"weights": {"base": 1.0}}, {}),
    ({"weights": {"values": {"maybe": 1.500}}}, {}),
    # The order of labs, rows and tasks, and repeated tasks.
    ({"lab_controllers": ["b", "a"]}, {"lab_controllers": ["a", "b"]}),
    (
        {"operations": [{"operation": "b"}, {"operation": "a", "tasks": ["/y", "/x", "/y"]}]},
        {"operations": [{"operation": "a", "tasks": ["/x", "/y"]}, {"operation": "b", "whole_lab": False}]},
    ),
    # The normal form of locks.
    (
        {"operations": [{"operation": "a", "locks": {"Node": "AllShared"}}]},
        {"operations": [{"operation": "a", "locks": {"system": "AllShared"}}]},
    ),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_document__equal_content__is_equal(one: Any, other: Any) -> None:
    assert read(one) == read(other)
    assert configuration_to_json(read(one)) == configuration_to_json(read(other))


# Decimals that floats only approximate.
@pytest.mark.parametrize("thousandths", [1, 7, 29, 57, 58, 115, 290, 1_001, 4_035, 8_115, 999_999_999])
def test_decimals__three__are_exact(thousandths: int) -> None:
    configuration = read({"weights": {"base": thousandths / 1_000}})
    assert configuration.weights.base == thousandths
    assert configuration_to_json(configuration)["weights"]["base"] == thousandths / 1_000


VALUES = "none, degrade, heavy_degrade, maybe, sure"
SECTIONS = "order, weights, locks, limits, claims, preemption, operations, lab_controllers, queues, placement"
UP_TO = "must be between 0 and 1000000"
AT_LEAST_1 = "must be between 1 and 1000000"
A_WHOLE = "must be a whole number from 0 to 1000000"
POSITIVE = "must be a whole number from 1 to 1000000"
BOUND = "must have a bound: null is only for order.most_overtaken"
DECIMALS = "must have at most three decimals"

FAULTY: list[tuple[Any, str, str]] = [
    ([], "", "must be an object"),
    (None, "", "must be an object"),
    ({"weight": {}}, "weight", f"is unknown; the fields are {SECTIONS}"),
    ({"order": None}, "order", "must be an object"),
    ({"weights": {"values": [0, 1]}}, "weights.values", "must be an object"),
    ({"limits": {"jobs": 1}}, "limits.jobs", "is unknown; the fields are placed_recipes"),
    (
        {"order": {"assigned_first": "never"}},
        "order.assigned_first",
        "must be one of within_priority, always",
    ),
    ({"order": {"assigned_first": None}}, "order.assigned_first", "must be one of within_priority, always"),
    ({"order": {"most_overtaken": -1}}, "order.most_overtaken", A_WHOLE),
    ({"order": {"most_overtaken": 1.5}}, "order.most_overtaken", A_WHOLE),
    ({"weights": {"enabled": 1}}, "weights.enabled", "must be true or false"),
    ({"weights": {"enabled": "true"}}, "weights.enabled", "must be true or false"),
    # A tick or K below 1.
    ({"weights": {"tick_seconds": 0}}, "weights.tick_seconds", AT_LEAST_1),
    ({"weights": {"tick_seconds": 0.999}}, "weights.tick_seconds", AT_LEAST_1),
    ({"weights": {"tick_seconds": 1.0005}}, "weights.tick_seconds", DECIMALS),
    ({"weights": {"tick_seconds": "30"}}, "weights.tick_seconds", "must be a number"),
    ({"weights": {"coefficient": 0}}, "weights.coefficient", POSITIVE),
    ({"weights": {"coefficient": -30}}, "weights.coefficient", POSITIVE),
    ({"weights": {"coefficient": None}}, "weights.coefficient", POSITIVE),
    ({"weights": {"coefficient": 1.5}}, "weights.coefficient", POSITIVE),
    # Negative values, and more than three decimals.
    ({"weights": {"base": -0.001}}, "weights.base", UP_TO),
    ({"weights": {"base": 1_000_001}}, "weights.base", UP_TO),
    ({"weights": {"base": float("nan")}}, "weights.base", UP_TO),
    ({"weights": {"base": float("inf")}}, "weights.base", UP_TO),
    ({"weights": {"base": "1"}}, "weights.base", "must be a number"),
    ({"weights": {"base": True}}, "weights.base", "must be a number"),
    ({"weights": {"base": 0.0001}}, "weights.base", DECIMALS),
    ({"weights": {"base": 1e-300}}, "weights.base", DECIMALS),
    ({"weights": {"values": {"degrade": 0.3001}}}, "weights.values.degrade", DECIMALS),
    ({"weights": {"values": {"sure": -3}}}, "weights.values.sure", UP_TO),
    ({"weights": {"values": {"never": 9}}}, "weights.values.never", f"is unknown; the fields are {VALUES}"),
    ({"locks": {"most_overtaken": None}}, "locks.most_overtaken", BOUND),
    ({"locks": {"most_overtaken": -1}}, "locks.most_overtaken", A_WHOLE),
    ({"limits": {"placed_recipes": -1}}, "limits.placed_recipes", A_WHOLE),
    # JSON readers make a float of a very large number.
    ({"limits": {"placed_recipes": 1e30}}, "limits.placed_recipes", A_WHOLE),
    ({"limits": {"placed_recipes": "10"}}, "limits.placed_recipes", A_WHOLE),
    ({"claims": {"after_ticks": -1}}, "claims.after_ticks", A_WHOLE),
    ({"claims": {"after_ticks": 0.5}}, "claims.after_ticks", A_WHOLE),
    ({"claims": {"after_ticks": "60"}}, "claims.after_ticks", A_WHOLE),
    # A claim that is over at once, and one without an end.
    ({"claims": {"for_ticks": 0}}, "claims.for_ticks", POSITIVE),
    ({"claims": {"for_ticks": None}}, "claims.for_ticks", POSITIVE),
    ({"claims": {"for_ticks": True}}, "claims.for_ticks", POSITIVE),
    ({"preemption": {"enabled": 1}}, "preemption.enabled", "must be true or false"),
    ({"preemption": {"after_seconds": -1}}, "preemption.after_seconds", A_WHOLE),
    ({"preemption": {"again_after_seconds": None}}, "preemption.again_after_seconds", A_WHOLE),
    ({"preemption": {"most_per_job": 0.5}}, "preemption.most_per_job", A_WHOLE),
    ({"claims": {"after": 1}}, "claims.after", "is unknown; the fields are after_ticks, for_ticks"),
]


@pytest.mark.parametrize(("document", "place", "message"), FAULTY)
def test_document__one_fault__is_found_at_its_place(document: Any, place: str, message: str) -> None:
    assert faults_of(document) == [(place, message)]


LIGHTER = "a worse cell must not make a set lighter"

NOT_ASCENDING: list[tuple[dict[str, float], list[tuple[str, str]]]] = [
    ({"none": 0.3}, []),
    ({"none": 0.301}, [("degrade", f"must be at least 0.301, the value of none: {LIGHTER}")]),
    ({"sure": 1}, [("sure", f"must be at least 1.5, the value of maybe: {LIGHTER}")]),
    (
        {"degrade": 5, "maybe": 0},
        [
            ("heavy_degrade", f"must be at least 5, the value of degrade: {LIGHTER}"),
            ("maybe", f"must be at least 0.5, the value of heavy_degrade: {LIGHTER}"),
        ],
    ),
    # A value with another fault is compared with no other.
    ({"none": 9, "degrade": -1}, [("degrade", UP_TO)]),
]


@pytest.mark.parametrize(("values", "expected"), NOT_ASCENDING)
def test_values__in_descending_order__are_faults(
    values: dict[str, float], expected: list[tuple[str, str]]
) -> None:
    found = faults_of({"weights": {"values": values}})
    assert found == [(f"weights.values.{field}", message) for field, message in expected]


ROW_FIELDS = "operation, tasks, locks, whole_lab"
ROW = {"operation": "a"}

FAULTY_ROWS: list[tuple[Any, str, str]] = [
    ({}, "", "must be a list"),
    (["reserve"], "[0]", "must be an object"),
    ([{}], "[0].operation", "is missing"),
    ([{"operation": " "}], "[0].operation", "must not be empty"),
    ([{"operation": 7}], "[0].operation", "must be a text"),
    ([ROW, {"operation": "b"}, ROW], "[2].operation", '"a" occurs twice'),
    ([{**ROW, "task": "/x"}], "[0].task", f"is unknown; the fields are {ROW_FIELDS}"),
    ([{**ROW, "tasks": "/x"}], "[0].tasks", "must be a list"),
    ([{**ROW, "tasks": ["/x", ""]}], "[0].tasks[1]", "must not be empty"),
    ([{**ROW, "tasks": [7]}], "[0].tasks[0]", "must be a text"),
    ([{**ROW, "whole_lab": 1}], "[0].whole_lab", "must be true or false"),
    ([{**ROW, "locks": []}], "[0].locks", "must be an object with a lock for each level"),
    ([{**ROW, "locks": {"x": 1}}], "[0].locks.x", f"unknown level; must be one of {', '.join(LEVELS)}"),
]


@pytest.mark.parametrize(("rows", "place", "message"), FAULTY_ROWS)
def test_operations__one_fault__is_found_at_its_place(rows: Any, place: str, message: str) -> None:
    assert faults_of({"operations": rows}) == [(f"operations{place}", message)]


def test_document__several_faults__all_are_found() -> None:
    document = {
        "orders": {},
        "order": {"most_overtaken": "8"},
        "weights": {"values": {"sure": -1, "maybe": 0.0005}, "coefficient": 0},
        "operations": [{"operation": ""}, {"tasks": [7], "locks": {"x": 1}}],
    }
    assert [place for place, _ in faults_of(document)] == [
        "orders",
        "order.most_overtaken",
        "weights.values.maybe",
        "weights.values.sure",
        "weights.coefficient",
        "operations[0].operation",
        "operations[1].operation",
        "operations[1].tasks[0]",
        "operations[1].locks.x",
    ]
