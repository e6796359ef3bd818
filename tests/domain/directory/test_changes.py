"""The events of a PUT of a directory entry."""

from __future__ import annotations

from typing import Any

import pytest

from domain.directory import events as directory_events
from domain.directory.changes import unknown_names
from domain.directory.state import Directory
from domain.errors import Fault
from domain.events import Event, from_data
from tests.domain.directory.documents import TREE, directory_with, put_document

GROUP = {"owners": ["ada"], "members": ["ada", "bob"]}

# subject, first document, another document, the event of each.
PUTS: list[tuple[str, dict[str, Any], dict[str, Any], type[Event], type[Event]]] = [
    (
        "group/qa",
        GROUP,
        {**GROUP, "members": []},
        directory_events.GroupRegistered,
        directory_events.GroupChanged,
    ),
    (
        "pool/net",
        {"owner_group": None, "description": ""},
        {"owner_group": "qa", "description": "NICs"},
        directory_events.PoolRegistered,
        directory_events.PoolChanged,
    ),
    (
        "user/ada",
        {"roles": ["submitter"], "email": None},
        {"roles": ["auditor", "submitter"], "email": "ada@example.com"},
        directory_events.UserRegistered,
        directory_events.UserChanged,
    ),
    (
        "distro-tree/1",
        TREE,
        {**TREE, "urls": {}},
        directory_events.DistroTreeRegistered,
        directory_events.DistroTreeChanged,
    ),
    # Disabling and enabling a lab have their own events.
    (
        "lab-controller/lab-1",
        {"enabled": True, "broken_after": 2},
        {"enabled": False, "broken_after": 2},
        directory_events.LabControllerRegistered,
        directory_events.LabControllerDisabled,
    ),
    (
        "lab-controller/lab-1",
        {"enabled": False, "broken_after": 2},
        {"enabled": True, "broken_after": 2},
        directory_events.LabControllerRegistered,
        directory_events.LabControllerEnabled,
    ),
    (
        "lab-controller/lab-1",
        {"enabled": True, "broken_after": 2},
        {"enabled": True, "broken_after": 0},
        directory_events.LabControllerRegistered,
        directory_events.LabControllerChanged,
    ),
]
IDS = [f"{row[0]}-{number}" for number, row in enumerate(PUTS)]


@pytest.mark.parametrize(("subject", "first", "other", "registered", "changed"), PUTS, ids=IDS)
def test_put__alternating_documents__one_event_each(
    subject: str, first: dict[str, Any], other: dict[str, Any], registered: type[Event], changed: type[Event]
) -> None:
    directory = directory_with()
    assert type(put_document(directory, subject, first)) is registered
    assert type(put_document(directory, subject, other)) is changed
    assert put_document(directory, subject, first) is not None
    kind, _, name = subject.partition("/")
    entry = directory.get(kind, name)
    assert entry is not None
    given = {name: entry.document[name] for name in first}
    assert (entry.version, given) == (3, first)


@pytest.mark.parametrize(("subject", "first"), [row[:2] for row in PUTS] + [("user/ada", {})])
def test_put__same_document_again__changes_nothing(subject: str, first: dict[str, Any]) -> None:
    directory = directory_with((subject, first))
    assert put_document(directory, subject, dict(first)) is None


def test_put__lab_controller_disabled_with_a_reason__event_has_it_and_the_document_does_not() -> None:
    directory = directory_with(("lab-controller/lab-1", {"enabled": True}))
    event = put_document(directory, "lab-controller/lab-1", {"enabled": False, "reason": "too hot"})
    assert event == directory_events.LabControllerDisabled(reason="too hot")
    entry = directory.get("lab-controller", "lab-1")
    assert entry is not None and "reason" not in entry.document


@pytest.fixture
def directory() -> Directory:
    return directory_with(
        ("user/ada", {}), ("group/qa", {**GROUP}), ("lab-controller/lab-1", {"enabled": True})
    )


UNKNOWN = [
    (
        "group",
        {"owners": ["eve"], "members": ["ada", "mallory"]},
        [Fault("owners[0]", 'there is no user "eve"'), Fault("members[1]", 'there is no user "mallory"')],
    ),
    ("pool", {"owner_group": "dev"}, [Fault("owner_group", 'there is no group "dev"')]),
    (
        "distro-tree",
        {**TREE, "urls": {"lab-1": ["http://lab-1/"], "lab-2": ["http://lab-2/"]}},
        [Fault("urls.lab-2", 'there is no lab controller "lab-2"')],
    ),
    # No faults: a pool without an owner, a group with existing members, a user.
    ("pool", {"owner_group": None}, []),
    ("pool", {"owner_group": "qa"}, []),
    ("user", {}, []),
    (
        "user",
        {"roles": ["submitter", "king"]},
        [
            Fault(
                "roles[1]",
                'there is no role "king"; the roles are admin, submitter, lab-controller, auditor, metrics',
            )
        ],
    ),
]


@pytest.mark.parametrize(("kind", "document", "faults"), UNKNOWN)
def test_unknown_names__any_document__all_found_with_places(
    directory: Directory, kind: str, document: dict[str, Any], faults: list[Fault]
) -> None:
    assert unknown_names(kind, directory, document) == faults


def test_put__user_without_roles__gets_submitter_and_keeps_later_roles() -> None:
    directory = directory_with(("user/ada", {}))
    assert directory.roles_of("ada") == ("submitter",)
    put_document(directory, "user/ada", {"roles": ["admin", "submitter", "admin"]})
    assert directory.roles_of("ada") == ("admin", "submitter")
    put_document(directory, "user/ada", {"email": "ada@example.com"})
    assert directory.roles_of("ada") == ("admin", "submitter")
    put_document(directory, "user/ada", {"roles": []})
    assert directory.roles_of("ada") == ()


def test_pool__registered_before_pools_had_descriptions__has_none() -> None:
    registered = from_data("pool.registered", 1, {"owner_group": "qa"})
    assert registered == directory_events.PoolRegistered(owner_group="qa", description="")
