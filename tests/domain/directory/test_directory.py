"""The directory of objects, labs without a contact, and passwords."""

from __future__ import annotations

from typing import Any

import pytest

from domain.directory import events as directory_events
from domain.directory.documents import document_after
from domain.directory.events import (
    LabControllerDisabled,
    LabControllerHeard,
    LabControllerRegistered,
    LabControllerRemoved,
    LabControllerSilent,
)
from domain.directory.passwords import faults_of
from domain.directory.state import Directory
from domain.events import Event
from domain.recipe.events import RecipeCompleted
from domain.system.events import SystemInventoryChanged, SystemRegistered
from tests.domain.directory.documents import NOW, TREE, apply, directory_with, put_document

TOKEN = directory_events.TokenCreated(user="ada", role="admin", lab_controller=None, digest="ab12")


# Tokens


@pytest.fixture
def holder() -> Directory:
    """Ada is an admin and has the token t1."""
    directory = directory_with(("user/ada", {"roles": ["admin"]}))
    apply(directory, "token/t1", TOKEN)
    return directory


def test_token__created__found_only_by_digest(holder: Directory) -> None:
    directory = holder
    found = directory.token("ab12", NOW)
    assert found is not None
    token_id, document = found
    assert (token_id, document["user"], document["role"]) == ("t1", "ada", "admin")
    assert directory.token("t1", NOW) is None
    assert directory.token("", NOW) is None


def test_token__revoked__not_found(holder: Directory) -> None:
    directory = holder
    apply(directory, "token/t1", directory_events.TokenRevoked(), version=2)
    assert directory.token("ab12", NOW) is None
    assert directory.get("token", "t1") is None


def test_token__one_of_two_revoked__other_stays_valid(holder: Directory) -> None:
    directory = holder
    apply(directory, "token/t2", directory_events.TokenCreated("ada", "admin", None, "cd34"))
    apply(directory, "token/t1", directory_events.TokenRevoked(), version=2)
    assert directory.token("cd34", NOW) is not None


# Pools


def test_pool_has__system_added_and_removed__follows() -> None:
    directory = directory_with(("pool/net", {"owner_group": None}))
    assert not directory.pool_has("net", "a")
    apply(directory, "pool/net", directory_events.PoolSystemAdded(system="a"), version=2)
    assert directory.pool_has("net", "a")
    apply(directory, "pool/net", directory_events.PoolSystemRemoved(system="a"), version=3)
    assert not directory.pool_has("net", "a")
    entry = directory.get("pool", "net")
    assert entry is not None
    # The document of a pool does not contain its systems.
    assert (entry.version, entry.document) == (3, {"owner_group": None, "description": ""})


# Names


@pytest.fixture
def lab() -> Directory:
    directory = directory_with(
        ("user/ada", {}),
        ("group/qa", {"owners": [], "members": ["ada"]}),
        ("pool/net", {"owner_group": None}),
        ("lab-controller/lab-1", {"enabled": True}),
        ("distro-tree/1", {**TREE, "arch": "s390x"}),
    )
    inventory = {"arches": ["x86_64", "i386"], "key_values": {"RACK": ["7"]}}
    apply(directory, "system/a", SystemRegistered("lab-1", "ada", "Automated", inventory))
    return directory


def test_name_index__after_the_log__has_all_names_for_jobs(lab: Directory) -> None:
    index = lab.name_index()
    assert index.users == {"ada"}
    assert index.groups == {"qa": {"ada"}}
    assert index.pools == {"net"}
    assert index.lab_controllers == {"lab-1"}
    assert index.systems == {"a"}
    assert index.keys == {"RACK"}
    # The arches of systems and of trees.
    assert index.arches == {"x86_64", "i386", "s390x"}


def test_name_index__inventory_changed__has_new_names(lab: Directory) -> None:
    changed = SystemInventoryChanged(inventory={"arches": ["riscv64"], "key_values": {"SLOT": ["1"]}})
    apply(lab, "system/a", changed, version=2)
    index = lab.name_index()
    assert index.keys == {"RACK", "SLOT"}
    assert index.arches == {"x86_64", "i386", "s390x", "riscv64"}


def test_name_index__pool_added__cache_is_invalidated(lab: Directory) -> None:
    assert "gpu" not in lab.name_index().pools
    put_document(lab, "pool/gpu", {"owner_group": None})
    assert "gpu" in lab.name_index().pools


def test_apply__event_of_a_recipe__ignored(lab: Directory) -> None:
    index = lab.name_index()
    apply(lab, "recipe/1", RecipeCompleted())
    assert lab.name_index() is index
    assert lab.get("recipe", "1") is None


# Distro trees


def trees(*changes: dict[str, Any]) -> Directory:
    documents = [(f"distro-tree/{number}", {**TREE, **change}) for number, change in enumerate(changes, 1)]
    return directory_with(*documents)


def test_distro_tree__removed__absent_until_registered_again() -> None:
    directory = trees({}, {})
    apply(directory, "distro-tree/2", directory_events.DistroTreeRemoved(), version=2)
    assert [number for number, _ in directory.trees()] == [1]
    assert directory.get("distro-tree", "2") is None
    put_document(directory, "distro-tree/2", TREE)
    assert [number for number, _ in directory.trees()] == [1, 2]


# Lab controllers


def test_lab_controller__silent_and_heard_again__stays_enabled() -> None:
    directory = directory_with(("lab-controller/lab-1", {"enabled": True}))
    for version, event in enumerate(
        (directory_events.LabControllerSilent(), directory_events.LabControllerHeard()), 2
    ):
        apply(directory, "lab-controller/lab-1", event, version)
        entry = directory.get("lab-controller", "lab-1")
        assert entry is not None
        assert entry.document["silent"] == isinstance(event, directory_events.LabControllerSilent)
        assert directory.is_enabled("lab-1")


def test_lab_controller__disabled_and_enabled__follows() -> None:
    directory = directory_with(("lab-controller/lab-1", {"enabled": True}))
    apply(directory, "lab-controller/lab-1", directory_events.LabControllerDisabled(), 2)
    assert not directory.is_enabled("lab-1")
    apply(directory, "lab-controller/lab-1", directory_events.LabControllerEnabled(), 3)
    assert directory.is_enabled("lab-1")
    assert not directory.is_enabled("lab-9")


NEW = LabControllerRegistered(enabled=True, silent=True)
OF_BEFORE = LabControllerRegistered(enabled=True)


@pytest.mark.parametrize(
    ("events", "is_silent", "is_never_heard"),
    [
        ([NEW], True, True),
        ([NEW, LabControllerDisabled()], True, True),
        ([NEW, LabControllerHeard()], False, False),
        ([NEW, LabControllerHeard(), LabControllerSilent()], True, False),
        ([OF_BEFORE], False, False),
        ([OF_BEFORE, LabControllerSilent()], True, False),
        ([NEW, LabControllerHeard(), LabControllerRemoved(), NEW], True, True),
    ],
)
def test_lab_controller__any_history__is_never_heard_until_its_first_contact(
    events: list[Event], is_silent: bool, is_never_heard: bool
) -> None:
    document: dict[str, object] = {}
    for event in events:
        document = dict(document_after(document, event))
    assert (document["silent"], document.get("never_heard", False)) == (is_silent, is_never_heard)


PASSWORDS = [
    ("correct horse", 0),
    ("ten chars!", 0),
    ("nine char", 1),
    ("", 1),
    # Each character counts as one, whatever its encoded length.
    ("ääääääääää", 0),
    ("x" * 1024, 0),
    ("x" * 1025, 1),
    ("Ada.Lovelace", 1),
]


@pytest.mark.parametrize(("password", "faults"), PASSWORDS)
def test_password__long_enough_and_not_the_name__valid(password: str, faults: int) -> None:
    found = faults_of(password, "ada.lovelace", "password")
    assert len(found) == faults
    assert {fault.where for fault in found} <= {"password"}


def test_password__short_and_equal_to_name__two_faults() -> None:
    assert len(faults_of("ada", "ada", "password")) == 2
