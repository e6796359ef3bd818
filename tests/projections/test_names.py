"""Tests of the documents of users, groups, pools, lab controllers and tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from domain.directory import events as directory_events
from domain.directory.state import document_after
from domain.events import Event, from_data
from projections.intervals import NEVER, OPEN
from store import migrate
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.happened import lab
from tests.projections.projected_log import ProjectedLog

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
        (kind, Jsonb(document), OPEN, NEVER),
    )
