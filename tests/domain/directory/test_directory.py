"""What is known by name, asked after the log has told it."""

from __future__ import annotations

from typing import Any

import pytest

from domain.directory import events as directory_events
from domain.directory.state import Directory
from domain.recipe.events import RecipeCompleted
from domain.system.events import SystemInventoryChanged, SystemRegistered
from tests.domain.directory.documents import NOW, TREE, hear, tell, told

TOKEN = directory_events.TokenCreated(user="ada", role="admin", lab_controller=None, digest="ab12")


# Tokens


@pytest.fixture
def holder() -> Directory:
    """Ada is an admin and has the token t1."""
    directory = told(("user/ada", {"roles": ["admin"]}))
    hear(directory, "token/t1", TOKEN)
    return directory


def test_token__created__is_found_by_its_digest_alone(holder: Directory) -> None:
    directory = holder
    found = directory.token("ab12", NOW)
    assert found is not None
    token_id, document = found
    assert (token_id, document["user"], document["role"]) == ("t1", "ada", "admin")
    assert directory.token("t1", NOW) is None
    assert directory.token("", NOW) is None


def test_token__revoked__is_found_no_more(holder: Directory) -> None:
    directory = holder
    hear(directory, "token/t1", directory_events.TokenRevoked(), version=2)
    assert directory.token("ab12", NOW) is None
    assert directory.get("token", "t1") is None


def test_token__one_of_two_revoked__the_other_still_opens(holder: Directory) -> None:
    directory = holder
    hear(directory, "token/t2", directory_events.TokenCreated("ada", "admin", None, "cd34"))
    hear(directory, "token/t1", directory_events.TokenRevoked(), version=2)
    assert directory.token("cd34", NOW) is not None


# Pools


def test_pool_has__system_added_and_removed__follows() -> None:
    directory = told(("pool/net", {"owner_group": None}))
    assert not directory.pool_has("net", "a")
    hear(directory, "pool/net", directory_events.PoolSystemAdded(system="a"), version=2)
    assert directory.pool_has("net", "a")
    hear(directory, "pool/net", directory_events.PoolSystemRemoved(system="a"), version=3)
    assert not directory.pool_has("net", "a")
    entry = directory.get("pool", "net")
    assert entry is not None
    # Who is in it is not the document of a pool.
    assert (entry.version, entry.document) == (3, {"owner_group": None, "description": ""})


# Names


@pytest.fixture
def lab() -> Directory:
    directory = told(
        ("user/ada", {}),
        ("group/qa", {"owners": [], "members": ["ada"]}),
        ("pool/net", {"owner_group": None}),
        ("lab-controller/lab-1", {"enabled": True}),
        ("distro-tree/1", {**TREE, "arch": "s390x"}),
    )
    inventory = {"arches": ["x86_64", "i386"], "key_values": {"RACK": ["7"]}}
    hear(directory, "system/a", SystemRegistered("lab-1", "ada", "Automated", inventory))
    return directory


def test_known_names__after_the_log__are_what_a_job_may_use(lab: Directory) -> None:
    known = lab.name_index()
    assert known.users == {"ada"}
    assert known.groups == {"qa": {"ada"}}
    assert known.pools == {"net"}
    assert known.lab_controllers == {"lab-1"}
    assert known.systems == {"a"}
    assert known.keys == {"RACK"}
    # Those of the systems, and those of the trees.
    assert known.arches == {"x86_64", "i386", "s390x"}


def test_known_names__inventory_changed__have_what_it_names_now(lab: Directory) -> None:
    changed = SystemInventoryChanged(inventory={"arches": ["riscv64"], "key_values": {"SLOT": ["1"]}})
    hear(lab, "system/a", changed, version=2)
    known = lab.name_index()
    assert known.keys == {"RACK", "SLOT"}
    assert known.arches == {"x86_64", "i386", "s390x", "riscv64"}


def test_known_names__one_more_came__are_not_remembered_too_long(lab: Directory) -> None:
    assert "gpu" not in lab.name_index().pools
    tell(lab, "pool/gpu", {"owner_group": None})
    assert "gpu" in lab.name_index().pools


def test_apply__event_of_a_recipe__is_passed_over(lab: Directory) -> None:
    known = lab.name_index()
    hear(lab, "recipe/1", RecipeCompleted())
    assert lab.name_index() is known
    assert lab.get("recipe", "1") is None


# Distro trees


def trees(*changes: dict[str, Any]) -> Directory:
    documents = [(f"distro-tree/{number}", {**TREE, **change}) for number, change in enumerate(changes, 1)]
    return told(*documents)


def test_distro_tree__removed__is_not_there_until_it_is_back() -> None:
    directory = trees({}, {})
    hear(directory, "distro-tree/2", directory_events.DistroTreeRemoved(), version=2)
    assert [number for number, _ in directory.trees()] == [1]
    assert directory.get("distro-tree", "2") is None
    tell(directory, "distro-tree/2", TREE)
    assert [number for number, _ in directory.trees()] == [1, 2]


# Lab controllers


def test_lab_controller__silent_and_heard_again__says_so_and_stays_enabled() -> None:
    directory = told(("lab-controller/lab-1", {"enabled": True}))
    for version, event in enumerate(
        (directory_events.LabControllerSilent(), directory_events.LabControllerHeard()), 2
    ):
        hear(directory, "lab-controller/lab-1", event, version)
        entry = directory.get("lab-controller", "lab-1")
        assert entry is not None
        assert entry.document["silent"] == isinstance(event, directory_events.LabControllerSilent)
        assert directory.is_enabled("lab-1")


def test_lab_controller__disabled_and_enabled__follows() -> None:
    directory = told(("lab-controller/lab-1", {"enabled": True}))
    hear(directory, "lab-controller/lab-1", directory_events.LabControllerDisabled(), 2)
    assert not directory.is_enabled("lab-1")
    hear(directory, "lab-controller/lab-1", directory_events.LabControllerEnabled(), 3)
    assert directory.is_enabled("lab-1")
    assert not directory.is_enabled("lab-9")
