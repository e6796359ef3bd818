"""The read model of the parts of the log in which an actor has events."""

from __future__ import annotations

from random import Random

import pytest

from domain.directory.events import PoolRegistered
from store.migrate import migrations
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.projections.logs_of_actors import RARE, WATCHER, expected_rows, project, rows, write_log
from tests.projections.projected_log import ProjectedLog
from tests.projections.rebuild.silent import silent
from tests.workers.read_models import forget
from workers import rebuild as worker
from workers.rebuild import check, rebuild


@pytest.fixture
def in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a rebuild fold this short log in halves."""
    monkeypatch.setattr(worker, "FEW_EVENTS", 0)


@pytest.mark.usefixtures("in_halves")
def test_actor_parts__read_models_rebuilt_in_halves_or_migrated__have_the_same_rows(
    models: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    dice = Random(3)
    write_log(models, dice)
    whole = whole_log(models.log)
    project(models, dice, len(whole))
    assert rows(owner) == expected_rows(whole)
    assert any(actor == WATCHER for actor, _ in rows(owner)), "skipped events count"
    rebuild(database.owner_url, silent)
    assert rows(owner) == expected_rows(whole)
    owner.execute("DELETE FROM read.actor_parts WHERE actor = %s", (RARE,))
    (difference,) = check(database.owner_url, silent, 10)[1]
    assert difference.table == "actor_parts" and difference.key["actor"] == RARE
    (migration,) = (one.text for one in migrations() if one.name == "2026-12-31-actors-of-events")
    owner.execute("TRUNCATE read.actor_parts")
    with owner.transaction():
        owner.execute(migration[migration.index("LOCK TABLE") :].encode())
    assert rows(owner) == expected_rows(whole)


def test_actor_parts__projector_begins_again_within_a_part__keep_the_first_position(
    models: ProjectedLog, owner: Owner
) -> None:
    first = models.commit(("pool/a", PoolRegistered(None)))
    models.begin_again()
    models.commit(("pool/b", PoolRegistered(None)))
    assert rows(owner) == {("tester", 0): first[0]}


def test_actor_parts__emptied_read_models__are_built_again(models: ProjectedLog, owner: Owner) -> None:
    models.commit(("pool/a", PoolRegistered(None)))
    before = rows(owner)
    forget(owner)
    assert rows(owner) == {}
    models.begin_again()
    models.project(models.unread())
    assert rows(owner) == before
