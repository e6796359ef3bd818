"""Registration of systems, their inventory and policies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.directory.events import PoolSystemAdded
from domain.directory.state import Directory
from domain.errors import Fault, Refused
from domain.system.events import (
    SystemInventoryChanged,
    SystemLabControllerChanged,
    SystemOwnerChanged,
    SystemPending,
    SystemRegistered,
)
from domain.system.lifecycle import CONDITIONS, WITH_RECIPE
from domain.system.state import System, evolve
from domain.system_admin.inventory import (
    change_inventory,
    change_owner,
    merged,
    move_to_lab,
    without_empty_cpu,
)
from domain.system_admin.registration import register, unknown_names
from domain.system_admin.reservation import reserve
from tests.domain.directory.documents import directory_with
from tests.domain.recipe.samples import moment, system_in

SYSTEM: dict[str, Any] = {
    "fqdn": "a",
    "lab_controller": "lab-1",
    "owner": "ada",
    "condition": "Automated",
    "pools": ["net", "gpu"],
    "arches": ["x86_64"],
    "memory_mb": 4096,
}


def test_register__automated_system__joins_pools_before_it_is_pending() -> None:
    registered = SystemRegistered(
        lab_controller="lab-1",
        owner="ada",
        condition="Automated",
        inventory={"arches": ["x86_64"], "memory_mb": 4096},
    )
    assert register(SYSTEM) == [
        ("system/a", registered),
        ("pool/net", PoolSystemAdded(system="a")),
        ("pool/gpu", PoolSystemAdded(system="a")),
        ("system/a", SystemPending()),
    ]


@pytest.mark.parametrize("condition", [condition for condition in CONDITIONS if condition != "Automated"])
def test_register__not_automated__stays_idle(condition: str) -> None:
    decided = register({**SYSTEM, "condition": condition, "pools": []})
    assert [type(event) for _, event in decided] == [SystemRegistered]


@pytest.fixture
def directory() -> Directory:
    return directory_with(
        ("lab-controller/lab-1", {"enabled": True}), ("user/ada", {}), ("pool/net", {"owner_group": None})
    )


UNKNOWN = [
    ({"lab_controller": "lab-9"}, Fault("lab_controller", 'there is no lab controller "lab-9"')),
    ({"owner": "eve"}, Fault("owner", 'there is no user "eve"')),
    # The fault has the index in the list.
    ({"pools": ["net", "gpu"]}, Fault("pools[1]", 'there is no pool "gpu"')),
]


@pytest.mark.parametrize(("change", "fault"), UNKNOWN, ids=["lab", "owner", "pool"])
def test_unknown_names__one_unknown__reported_with_its_place(
    directory: Directory, change: dict[str, Any], fault: Fault
) -> None:
    assert unknown_names(directory, {**SYSTEM, "pools": ["net"], **change}) == [fault]


def test_unknown_names__all_exist__none(directory: Directory) -> None:
    assert unknown_names(directory, {**SYSTEM, "pools": ["net"]}) == []


INVENTORY = {"memory_mb": 4096, "arches": ["x86_64"]}

CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"memory_mb": 8192}, {"memory_mb": 8192, "arches": ["x86_64"]}),
    ({"vendor": "Acme"}, {**INVENTORY, "vendor": "Acme"}),
    # None removes a property.
    ({"memory_mb": None}, {"arches": ["x86_64"]}),
]


@pytest.mark.parametrize(("changes", "whole"), CHANGES)
def test_change_inventory__some_properties__event_has_whole_inventory(
    changes: dict[str, Any], whole: dict[str, Any]
) -> None:
    system = replace(system_in("idle"), inventory=INVENTORY)
    decided = change_inventory(system, changes)
    assert decided == [("system/a", SystemInventoryChanged(inventory=whole))]
    assert evolve(system, "a", decided[0][1], moment()).inventory == whole


@pytest.mark.parametrize("changes", [{}, {"memory_mb": 4096}, {"vendor": None}])
def test_change_inventory__equal_values__changes_nothing(changes: dict[str, Any]) -> None:
    assert change_inventory(replace(system_in("idle"), inventory=INVENTORY), changes) == []


@pytest.mark.parametrize("usage", ["idle", "pending"])
def test_move_to_lab__free_system__moves(usage: str) -> None:
    decided = move_to_lab(system_in(usage), "lab-2")
    assert decided == [("system/a", SystemLabControllerChanged(lab_controller="lab-2"))]
    assert evolve(system_in(usage), "a", decided[0][1], moment()).lab_controller == "lab-2"
    assert move_to_lab(system_in(usage), "lab-1") == []


def _reserved() -> System:
    system = system_in("idle", "Manual")
    return evolve(system, "a", reserve(system, "ada", None, None)[0][1], moment())


# A recipe set stays in one lab.
@pytest.mark.parametrize("system", [*(system_in(usage) for usage in WITH_RECIPE), _reserved()])
def test_move_to_lab__system_in_use__refused(system: System) -> None:
    with pytest.raises(Refused, match="cannot change its lab now"):
        move_to_lab(system, "lab-2")


def test_change_owner__to_another__is_recorded_once() -> None:
    decided = change_owner(system_in("idle"), "eve")
    assert decided == [("system/a", SystemOwnerChanged(owner="eve"))]
    owned = evolve(system_in("idle"), "a", decided[0][1], moment())
    assert owned.owner == "eve"
    assert change_owner(owned, "eve") == []


# Examples of RFC 7396, appendix A, that are objects: original, patch, result.
MERGED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("inventory", "changes", "result"), MERGED)
def test_merged__examples_of_the_standard__expected_results(
    inventory: dict[str, Any], changes: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merged(inventory, changes) == result


def test_sound__empty_cpu__removed() -> None:
    assert without_empty_cpu({"cpu": {}, "key_values": {}, "disks": []}) == {"key_values": {}, "disks": []}
    assert without_empty_cpu({"cpu": {"cores": 0}}) == {"cpu": {"cores": 0}}
