"""Removal of directory entries: the events, and the references that prevent it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.directory import events as directory_events
from domain.directory.events import GroupChanged, PoolRemoved, PoolSystemRemoved, TokenRevoked
from domain.directory.removal import remove
from domain.directory.state import Directory
from domain.endings import EndingEvent
from domain.errors import Refused, unknown_name
from domain.events import Decided, split_subject
from domain.system.state import System
from domain.system_admin.registration import unknown_names
from tests.domain.directory.documents import NOW, TREE, apply, directory_with, put_document

MACHINE = System("a", 1, "lab-1", "ada", "Automated", {})


@pytest.fixture
def directory() -> Directory:
    """Ada is the admin. Bob is in two groups, has two tokens and a password; `net` has two systems."""
    made = directory_with(
        ("user/ada", {"roles": ["admin"]}),
        ("user/bob", {}),
        ("group/qa", {"owners": ["bob"], "members": ["ada", "bob"]}),
        ("group/dev", {"owners": ["ada"], "members": ["bob"]}),
        ("group/ops", {"owners": ["ada"], "members": []}),
        ("lab-controller/lab-1", {"enabled": True}),
        ("pool/net", {"owner_group": "qa"}),
        ("distro-tree/2", TREE),
    )
    tokens = (
        ("a1", "ada", "admin", None),
        ("b1", "bob", "submitter", None),
        ("b2", "bob", "submitter", None),
    )
    for token_id, user, role, lab in (*tokens, ("l1", "ada", "lab-controller", "lab-1")):
        apply(made, f"token/{token_id}", directory_events.TokenCreated(user, role, lab, token_id))
    apply(made, "token/b2", TokenRevoked(), 2)
    apply(made, "user/bob", directory_events.UserPasswordSet("p1"), 2)
    for version, fqdn in enumerate(("a", "b"), 2):
        apply(made, "pool/net", directory_events.PoolSystemAdded(system=fqdn), version)
    return made


def apply_decided(directory: Directory, decided: Decided) -> None:
    for subject, event in decided:
        apply(directory, subject, event, directory.version(subject) + 1)


def test_user__removed__leaves_groups_and_loses_tokens_in_one_commit(directory: Directory) -> None:
    decided = remove("user", directory, "bob", [MACHINE])
    assert decided == [
        ("group/qa", GroupChanged(owners=[], members=["ada"])),
        ("group/dev", GroupChanged(owners=["ada"], members=[])),
        ("token/b1", TokenRevoked()),
        ("user/bob", directory_events.UserRemoved()),
    ]
    apply_decided(directory, decided)
    assert directory.get("user", "bob") is None
    assert directory.credentials.password_of("bob") is None
    assert directory.token("b1", NOW) is None
    assert "bob" not in directory.name_index().users


@pytest.mark.parametrize(("kind", "name"), [("user", "bob"), ("pool", "net"), ("distro-tree", "2")])
def test_removal__with_a_reason__everything_that_it_ends_has_it(
    directory: Directory, kind: str, name: str
) -> None:
    endings = [
        event for _, event in remove(kind, directory, name, [], "sold") if isinstance(event, EndingEvent)
    ]
    assert endings
    assert {event.reason for event in endings} == {"sold"}


def test_user__owns_systems__refused_with_their_names(directory: Directory) -> None:
    many = [replace(MACHINE, fqdn=f"m{number:02}", owner="bob") for number in range(12)]
    with pytest.raises(Refused, match=r"user bob owns m00, .*, m09 and 2 more; give them"):
        remove("user", directory, "bob", [MACHINE, *many])


def test_user__last_admin__refused(directory: Directory) -> None:
    with pytest.raises(Refused, match="no admin who can log in would be left"):
        remove("user", directory, "ada", [])


def test_group__owns_a_pool__refused_until_pool_has_other_owner(directory: Directory) -> None:
    with pytest.raises(Refused, match="group qa owns net"):
        remove("group", directory, "qa", [])
    put_document(directory, "pool/net", {"owner_group": "ops"})
    apply_decided(directory, remove("group", directory, "qa", []))
    assert "qa" not in directory.name_index().groups


def test_pool__removed__its_systems_leave_it_first(directory: Directory) -> None:
    decided = remove("pool", directory, "net", [MACHINE])
    assert decided == [
        ("pool/net", PoolSystemRemoved(system="a")),
        ("pool/net", PoolSystemRemoved(system="b")),
        ("pool/net", PoolRemoved()),
    ]
    apply_decided(directory, decided)
    assert directory.pools_of("a") == ()
    assert not directory.name_index().has("pools", "net")
    # A new pool of the same name is empty.
    put_document(directory, "pool/net", {"owner_group": None})
    assert directory.systems_of("net") == ()
    entry = directory.get("pool", "net")
    assert entry is not None and entry.version == 7


def test_lab_controller__with_systems_that_are_not_removed__refused(directory: Directory) -> None:
    with pytest.raises(Refused, match="lab controller lab-1 has a; remove them"):
        remove("lab-controller", directory, "lab-1", [MACHINE])


def test_lab_controller__all_systems_removed__removed_with_tokens(directory: Directory) -> None:
    systems = [replace(MACHINE, condition="Removed"), replace(MACHINE, fqdn="b", lab_controller="lab-2")]
    decided = remove("lab-controller", directory, "lab-1", systems)
    assert [subject for subject, _ in decided] == ["token/l1", "lab-controller/lab-1"]
    apply_decided(directory, decided)
    assert not directory.is_enabled("lab-1")
    document = {"lab_controller": "lab-1", "owner": "ada", "pools": []}
    (fault,) = unknown_names(directory, document)
    assert fault.message == unknown_name("lab-controller", "lab-1")
    # Registered again, it has only the new document.
    put_document(directory, "lab-controller/lab-1", {"enabled": False})
    entry = directory.get("lab-controller", "lab-1")
    assert entry is not None
    assert (entry.document["enabled"], entry.document["silent"]) == (False, True)


def test_distro_tree__changed_after_removal_in_older_log__registered_again(directory: Directory) -> None:
    apply_decided(directory, remove("distro-tree", directory, "2", []))
    assert list(directory.trees()) == []
    apply(directory, "distro-tree/2", directory_events.DistroTreeChanged(**TREE), 3)
    assert list(directory.trees()) == [(2, TREE)]


@pytest.mark.parametrize(
    "subject", ["user/bob", "group/ops", "pool/net", "lab-controller/lab-1", "distro-tree/2"]
)
def test_removed__put_again__registered_with_later_version(directory: Directory, subject: str) -> None:
    kind, name = split_subject(subject)
    apply_decided(directory, remove(kind, directory, name, []))
    before = directory.version(subject)
    assert directory.get(kind, name) is None
    assert name not in dict(directory.items(kind))
    documents = {
        "user": {},
        "group": {"owners": [], "members": []},
        "pool": {"owner_group": None},
        "lab-controller": {"enabled": True},
        "distro-tree": TREE,
    }
    event = put_document(directory, subject, documents[kind])
    assert event is not None
    assert (f"{kind}.registered", before + 1) == (event.TOPIC, directory.version(subject))
