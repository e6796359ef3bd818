"""Changes of a system's inventory, lab and owner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import Refused
from domain.system.events import SystemInventoryChanged, SystemLabControllerChanged, SystemOwnerChanged
from domain.system.lifecycle import WITH_RECIPE
from domain.system.state import System, evolve
from domain.system_admin.inventory import change_inventory, change_owner, move_to_lab
from domain.system_admin.reservation import reserve
from tests.domain.recipe.samples import moment, system_in

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
