"""Tests of killed rebuilds: the read models stay, and the next rebuild removes the remains."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from random import Random

import pytest

from projections.rebuild.rebuild import RebuildRunning
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import Program, program
from tests.harness.sessions import Owner, owner_session
from tests.harness.waiting import wait_until
from tests.projections.copies import left_over, unchanged
from tests.projections.rebuild.silent import silent
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import project_undisturbed
from workers.rebuild import rebuild

KILLS = 3
OTHER_SESSIONS = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name = '' AND query LIKE '%notification_id > %topic <> ALL%'
"""

Begin = Callable[[], AbstractContextManager[Program]]


@pytest.fixture(autouse=True)
def long_log(database: TestDatabase, log: EventLog) -> None:
    """Fill the log with events that take a moment to fold."""
    equip(log, systems=5)
    submit_jobs(log, 300)
    project_undisturbed(database.service_url, log.end(), page_size=500)


@pytest.fixture(params=[pytest.param("cli", marks=pytest.mark.soak), "tests.projections.rebuild.in_halves"])
def begin(database: TestDatabase, request: pytest.FixtureRequest) -> Begin:
    owner = {"LABLEDGER_OWNER_DATABASE_URL": database.owner_url}
    return lambda: program(request.param, "replay", "rebuild", **owner)


def test_rebuild__killed_repeatedly__live_ones_unchanged(
    database: TestDatabase, owner: Owner, begin: Begin
) -> None:
    dice = Random(20261123)
    for _ in range(KILLS):
        with unchanged(owner), begin() as rebuilding:
            wait_until(lambda: left_over(owner) or rebuilding.poll() is not None)
            time.sleep(dice.uniform(0, 0.4))
        wait_for_lock(database)
    assert left_over(owner) == []
    # Sessions of child processes are gone, too.
    wait_until(lambda: owner.execute(OTHER_SESSIONS).fetchone() == (0,))


def test_rebuild__killed_between_swap_and_cleanup__new_ones_stay_and_the_next_removes_the_old(
    database: TestDatabase, owner: Owner, begin: Begin
) -> None:
    owner.execute("DELETE FROM read.queue")
    with owner_session(database.owner_url) as reader:
        with begin(), reader.transaction():
            reader.execute("SELECT fqdn FROM read.systems")
            wait_until(lambda: left_over(owner) == ["read_old"])
            rows = owner.execute("SELECT count(*) FROM read.queue").fetchone()
        assert rows is not None and rows[0] >= 300, "the new ones"
    with unchanged(owner):
        wait_for_lock(database)
        rebuild(database.owner_url, silent)
    assert left_over(owner) == []


def wait_for_lock(database: TestDatabase) -> None:
    """Wait until the server has noticed the end of the session, and released its lock."""

    def free() -> bool:
        try:
            rebuild(database.owner_url, silent)
        except RebuildRunning:
            return False
        return True

    wait_until(free)
