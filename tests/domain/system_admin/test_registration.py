"""Registration of systems."""

from __future__ import annotations

from typing import Any

import pytest

from domain.directory.events import PoolSystemAdded
from domain.directory.state import Directory
from domain.errors import Fault
from domain.system.events import SystemPending, SystemRegistered
from domain.system.lifecycle import CONDITIONS
from domain.system_admin.registration import register, unknown_names
from tests.domain.directory.documents import directory_with

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
