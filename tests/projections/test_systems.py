"""Read models of systems, and names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from domain.directory import events as directory_events
from domain.directory.documents import document_after
from domain.directory.events import (
    LabControllerDisabled,
    LabControllerEnabled,
    PoolRegistered,
    PoolSystemAdded,
)
from domain.events import Event, from_data
from domain.system import events as system_events
from projections.intervals import NEVER, OPEN_UNTIL
from projections.sql import ANY_SYSTEM
from store import migrate
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.happened import lab, of, registered
from tests.projections.projected_log import ProjectedLog

UNTIL = datetime(2026, 2, 1, tzinfo=UTC)
RESERVED = system_events.SystemReservationBegun("bob", "2026-02-01T00:00:00Z", 7)
ENTRIES = [{"permission": "reserve", "user": "bob"}]


@pytest.fixture
def idle(models: ProjectedLog) -> ProjectedLog:
    """Add system `a`, Automated and idle, in an enabled lab."""
    models.commit(lab(), registered("a"))
    return models


SHOWN: list[tuple[Event, dict[str, object]]] = [
    (system_events.SystemConditionChanged("Broken", "it burns"), {"condition": "Broken"}),
    (system_events.SystemInventoryChanged({"memory_mb": 2048}), {"inventory": {"memory_mb": 2048}}),
    (system_events.SystemOwnerChanged("bob"), {"owner": "bob"}),
    (system_events.SystemLabControllerChanged("lab-2"), {"lab_controller": "lab-2"}),
    (system_events.SystemDrained("moving"), {"draining": True}),
    (
        system_events.SystemOccupied("recipe 7 has ended", 7, 2),
        {"occupied": {"reason": "recipe 7 has ended", "recipe_id": 7, "attempt": 2, "since": 4}},
    ),
    (RESERVED, {"reserved_by": "bob", "reserved_until": UNTIL, "reserved_distro_tree_id": 7}),
    # Without an end.
    (system_events.SystemReservationBegun("bob", None, None), {"reserved_by": "bob", "reserved_until": None}),
    (system_events.SystemLoaned("bob", "2026-02-01T00:00:00Z"), {"loaned_to": "bob", "loaned_until": UNTIL}),
    (system_events.SystemLoaned("bob", None), {"loaned_to": "bob", "loaned_until": None}),
    # Shown by its own query.
    (system_events.SystemAccessPolicyChanged(ENTRIES, "big"), {}),
    (system_events.SystemRunning(None), {"usage": "running", "recipe_id": None}),
    (system_events.SystemScheduled(3), {"usage": "scheduled", "recipe_id": 3}),
]


@pytest.mark.parametrize(("event", "changed"), SHOWN)
def test_system__event__changes_this_and_nothing_else(
    idle: ProjectedLog, event: Event, changed: dict[str, object]
) -> None:
    before = idle.system("a")
    idle.commit(lab("lab-2"), *of("system", "a", event))
    assert idle.system("a") == {**before, "version": 2, **changed}


def test_system__undrained_and_returned__as_before(idle: ProjectedLog) -> None:
    before = idle.system("a")
    ended = system_events.SystemReservationEnded("returned")
    drained, undrained = system_events.SystemDrained("moving"), system_events.SystemUndrained()
    occupied, vacated = (
        system_events.SystemOccupied("by what?", None, None),
        system_events.SystemVacated("gone"),
    )
    loaned, over = system_events.SystemLoaned("bob", None), system_events.SystemLoanEnded("over")
    idle.commit(*of("system", "a", drained, RESERVED, occupied, loaned, ended, over, vacated, undrained))
    assert idle.system("a") == {**before, "version": 9}


def test_access__changed_between_others__as_of_each_position(idle: ProjectedLog) -> None:
    """A new projector has only the stored rows."""
    first = system_events.SystemAccessPolicyChanged(ENTRIES, None)
    (*_, at) = idle.commit(*of("system", "a", first, system_events.SystemLoaned("bob", None)))
    idle.begin_again()
    idle.commit(*of("system", "a", system_events.SystemOwnerChanged("eve")))
    then = idle.row("access_to_system", fqdn="a", at=at)
    assert then == idle.row("access_to_system", fqdn="a") == {"access_policy": ENTRIES, "active_pool": None}
    assert idle.system("a")["loaned_to"] == "bob"
    idle.commit(*of("system", "a", system_events.SystemAccessPolicyChanged([], "big")))
    now = {"access_policy": [], "active_pool": "big"}
    assert idle.row("access_to_system", fqdn="a") == now != idle.row("access_to_system", fqdn="a", at=at)


def test_systems__hidden__are_in_no_list(idle: ProjectedLog) -> None:
    idle.commit(registered("b"), *of("system", "b", system_events.SystemIdle()))
    shown = {"after": "", "limit": 10, "hidden": ["a"]}
    assert [row["fqdn"] for row in idle.rows("systems", **{**ANY_SYSTEM, **shown})] == ["b"]
    assert [row["fqdn"] for row in idle.rows("idle_pool", **shown)] == ["b"]


def test_system__asked_as_of_an_earlier_commit__document_and_version_of_then(idle: ProjectedLog) -> None:
    (*_, at) = idle.commit(*of("system", "a", system_events.SystemPending()))
    idle.commit(*of("system", "a", system_events.SystemIdle(), system_events.SystemDrained("moving")))
    row = idle.system("a", at=at)
    assert (row["usage"], row["draining"], row["version"]) == ("pending", False, 2)


def test_usage__condition_or_usage_changes__an_entry_each(idle: ProjectedLog) -> None:
    """Other events add no entry."""
    idle.commit(
        *of(
            "system",
            "a",
            system_events.SystemScheduled(3),
            system_events.SystemConditionChanged("Manual", "wanted"),
            system_events.SystemOwnerChanged("bob"),
            system_events.SystemIdle(),
            system_events.SystemConditionChanged("Removed", "old"),
        )
    )
    entries = idle.rows("usage_of_system", fqdn="a", since=None, until=None, after=0, limit=100)
    assert [(row["condition"], row["usage"], row["recipe_id"]) for row in entries] == [
        ("Automated", "idle", None),
        ("Automated", "scheduled", 3),
        ("Manual", "scheduled", 3),
        ("Manual", "idle", None),
        ("Removed", "idle", None),
    ]


LEAVING: list[Event] = [
    system_events.SystemConditionChanged("Manual", "wanted"),
    system_events.SystemDrained("moving"),
    system_events.SystemOccupied("by what?", None, None),
    system_events.SystemPending(),
    system_events.SystemReservationBegun("bob", None, None),
]


@pytest.mark.parametrize("event", LEAVING)
def test_idle_pool__system_not_available__leaves_the_pool(idle: ProjectedLog, event: Event) -> None:
    (at,) = idle.commit(*of("system", "a", event))
    assert idle.idle() == {}
    assert idle.idle(at=at - 1) == {"a": "lab-1"}


def test_idle_pool__lab_disabled_and_enabled__all_its_idle_systems_at_once(idle: ProjectedLog) -> None:
    idle.commit(
        registered("b"), registered("c", "Manual"), lab("lab-2"), registered("d", lab_controller="lab-2")
    )
    idle.commit(*of("lab-controller", "lab-1", LabControllerDisabled()))
    assert idle.idle() == {"d": "lab-2"}
    idle.commit(*of("lab-controller", "lab-1", LabControllerEnabled()))
    assert idle.idle() == {"a": "lab-1", "b": "lab-1", "d": "lab-2"}


def test_idle_pool__system_moves_to_another_lab__follows_that_lab(idle: ProjectedLog) -> None:
    idle.commit(lab("lab-2"), lab("lab-3", enabled=False))
    idle.commit(*of("system", "a", system_events.SystemLabControllerChanged("lab-2")))
    assert idle.idle() == {"a": "lab-2"}
    idle.commit(*of("system", "a", system_events.SystemLabControllerChanged("lab-3")))
    assert idle.idle() == {}


def test_pool__system_added__shows_at_both(idle: ProjectedLog) -> None:
    idle.commit(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a")))
    assert idle.system("a")["pools"] == ["big"]
    # The version of the pool has changed, too.
    assert idle.row("document", kind="pool", name="big")["version"] == 2


REMOVALS: list[tuple[str, Event, Event, dict[str, Any]]] = [
    (
        "user/ada",
        directory_events.UserRegistered(["admin"], "ada@example.com"),
        directory_events.UserRemoved(),
        {"roles": ["admin"], "email": "ada@example.com"},
    ),
    (
        "group/qa",
        directory_events.GroupRegistered([], ["ada"]),
        directory_events.GroupRemoved(),
        {"owners": [], "members": ["ada"]},
    ),
    (
        "pool/net",
        directory_events.PoolRegistered(None, "NICs"),
        directory_events.PoolRemoved(),
        {"owner_group": None, "description": "NICs"},
    ),
    (*lab(), directory_events.LabControllerRemoved(), {"enabled": True, "broken_after": 2, "silent": False}),
]


@pytest.mark.parametrize(("subject", "begins", "ends", "document"), REMOVALS)
def test_name__removed__is_there_only_as_of_earlier_until_it_comes_back(
    models: ProjectedLog, subject: str, begins: Event, ends: Event, document: dict[str, Any]
) -> None:
    kind, _, name = subject.partition("/")
    (at,) = models.commit((subject, begins))
    models.commit((subject, ends))
    assert models.rows("document", kind=kind, name=name) == []
    assert models.row("document", kind=kind, name=name, at=at)["document"] == document
    models.commit((subject, begins))
    assert models.row("document", kind=kind, name=name) == {"name": name, "version": 3, "document": document}


def test_user__password_set__shows_nothing_of_it_but_a_version(models: ProjectedLog) -> None:
    models.commit(("user/ada", directory_events.UserRegistered()))
    models.commit(("user/ada", directory_events.UserPasswordSet(password_id="p1")))
    row = models.row("document", kind="user", name="ada")
    assert (row["version"], row["document"]) == (2, {"roles": ["submitter"], "email": None})


def test_token__created_and_revoked__never_shows_its_digest(models: ProjectedLog) -> None:
    end = "2026-02-01T00:00:00Z"
    models.commit(("token/t1", directory_events.TokenCreated("ada", "submitter", None, "ab12", end)))
    document = {"user": "ada", "role": "submitter", "lab_controller": None, "expires_at": end}
    assert models.row("document", kind="token", name="t1")["document"] == document
    models.commit(("token/t1", directory_events.TokenRevoked()))
    assert models.row("document", kind="token", name="t1")["document"] == {**document, "revoked": True}


# Events and documents of an older version.
TOKEN = {"user": "ada", "role": "admin", "lab_controller": None, "digest": "ab12"}
OLD = [("user", "user.registered", {}), ("token", "token.created", TOKEN)]


def test_migration__documents_of_an_older_version__equal_a_new_fold(database: TestDatabase) -> None:
    migration = Path(migrate.FOLDER) / "2026-11-23-directory.sql"
    with owner_session(database.owner_url) as owner:
        for kind, topic, data in OLD:
            _store(owner, kind, data)
            owner.execute(migration.read_bytes())
            fresh = document_after({}, from_data(topic, 1, data))
            row = owner.execute("SELECT document FROM read.documents WHERE kind = %s", (kind,)).fetchone()
            assert row == (fresh,)


def _store(owner: Connection[Any], kind: str, document: dict[str, Any]) -> None:
    owner.execute(
        "INSERT INTO read.documents"
        " (kind, name, version, document, since_position, since, until_position, until)"
        " VALUES (%s, 'ada', 1, %s, 1, now(), %s, %s)",
        (kind, Jsonb(document), OPEN_UNTIL, NEVER),
    )
