"""Users, groups, pools, lab controllers and tokens, as they are shown."""

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
from tests.projections.telling import Told

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
    told: Told, subject: str, begins: Event, ends: Event, document: dict[str, Any]
) -> None:
    kind, _, name = subject.partition("/")
    (at,) = told.tell((subject, begins))
    told.tell((subject, ends))
    assert told.rows("document", kind=kind, name=name) == []
    assert told.row("document", kind=kind, name=name, at=at)["document"] == document
    told.tell((subject, begins))
    assert told.row("document", kind=kind, name=name) == {"name": name, "version": 3, "document": document}


def test_user__password_set__shows_nothing_of_it_but_a_version(told: Told) -> None:
    told.tell(("user/ada", directory_events.UserRegistered()))
    told.tell(("user/ada", directory_events.UserPasswordSet(password_id="p1")))
    row = told.row("document", kind="user", name="ada")
    assert (row["version"], row["document"]) == (2, {"roles": ["submitter"], "email": None})


def test_token__created_and_revoked__never_shows_its_digest(told: Told) -> None:
    end = "2026-02-01T00:00:00Z"
    told.tell(("token/t1", directory_events.TokenCreated("ada", "submitter", None, "ab12", end)))
    document = {"user": "ada", "role": "submitter", "lab_controller": None, "expires_at": end}
    assert told.row("document", kind="token", name="t1")["document"] == document
    told.tell(("token/t1", directory_events.TokenRevoked()))
    assert told.row("document", kind="token", name="t1")["document"] == {**document, "revoked": True}


# What a version before this one has stored, and what it had in its read models.
TOKEN = {"user": "ada", "role": "admin", "lab_controller": None, "digest": "ab12"}
OLD = [("user", "user.registered", {}), ("token", "token.created", TOKEN)]


def test_migration__documents_of_an_older_version__are_as_folding_them_anew_makes_them(
    database: TestDatabase,
) -> None:
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
