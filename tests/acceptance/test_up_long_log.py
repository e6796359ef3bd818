"""A new version of Labledger on a long log, whose read models it builds first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from api import database_setup
from domain.directory.events import PoolRegistered
from domain.events import Change
from runtime.embedded.database import EmbeddedDatabase
from runtime.settings import Settings
from store.event_log import EventLog
from store.requests import AppendRequest, require_committed
from tests.acceptance.up import up
from tests.harness.appends import STAMP
from tests.harness.sessions import owner_session

EVENTS = 10_000
AT_ONCE = 500
# Makes a page as slow as one a thousand times as long.
SLOW_PAGES = b"""
CREATE FUNCTION read.slowly() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(4); RETURN NEW; END $$;
CREATE TRIGGER slowly BEFORE UPDATE OF position ON read.progress FOR EACH ROW EXECUTE FUNCTION read.slowly()
"""
# Longer than one page takes, and far shorter than all of them.
PATIENCE = "10"


@contextmanager
def database(data: Path) -> Iterator[str]:
    """Yield the URL of the migrated database of a data folder."""
    embedded = EmbeddedDatabase(data)
    try:
        settings = embedded.start(Settings.read({}, data=data))
        database_setup.migrate(settings)
        yield str(settings.database_url)
    finally:
        embedded.stop()


def fill(url: str) -> None:
    with closing(EventLog(url)) as log:
        for first in range(0, EVENTS, AT_ONCE):
            for outcome in log.append([pool(number) for number in range(first, first + AT_ONCE)]):
                require_committed(outcome)


def pool(number: int) -> AppendRequest:
    subject = f"pool/p{number}"
    return AppendRequest(f"fill/{number}", (Change(subject, PoolRegistered(None), STAMP),), {subject: 0})


@pytest.mark.soak
def test_up__read_models_built_for_longer_than_its_patience__says_how_far_and_waits(data: Path) -> None:
    with database(data) as url, owner_session(url) as owner:
        fill(url)
        owner.execute(SLOW_PAGES)
    with up(data, "--ready-seconds", PATIENCE) as started:
        assert "the read models have 0 of 1000" in started.text()
        assert "restarting it" not in started.text()
        assert len(started.labledger("pools", "--limit", "3").splitlines()) > 3
