"""The projector, killed or doubled: the read models are those of one that nobody disturbed."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

from api.store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.store.programs import Program
from tests.store.sessions import Owner
from tests.store.waiting import until
from tests.workers.conftest import Start
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import contents, forget, position, project_undisturbed

# Most of a projector's time is then spent inside of its transactions, where it is to be killed.
SLOW_PAGES = b"""
CREATE FUNCTION read.slowly() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END $$;
CREATE TRIGGER slowly BEFORE UPDATE ON read.progress FOR EACH ROW EXECUTE FUNCTION read.slowly()
"""
KILLS = 6


def test_projector__killed_again_and_again__read_models_of_an_uninterrupted_one(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    dice = random.Random(20261121)
    equip(log, systems=5)
    owner.execute(SLOW_PAGES)
    with ThreadPoolExecutor(1) as pool:
        reached = 0
        for _ in range(KILLS):
            writing = pool.submit(write_steadily, log, 40)
            projector = start("projector")
            # Alive and at work first, then a moment that nobody chose.
            until_it_moves(owner, reached, projector)
            time.sleep(dice.uniform(0, 0.2))
            projector.kill()
            projector.wait()
            writing.result(20)
            reached = position(owner)
    start("projector")
    until(lambda: position(owner) == log.end())

    assert_as_if_undisturbed(database, log, owner)


def test_projector__two_at_once__nothing_doubled(
    database: TestDatabase, log: EventLog, owner: Owner, start: Start
) -> None:
    equip(log, systems=5)
    owner.execute(SLOW_PAGES)
    both = [start("projector"), start("projector")]
    write_steadily(log, 300)
    until(lambda: position(owner) == log.end())

    assert_as_if_undisturbed(database, log, owner)
    assert all(projector.poll() is None for projector in both)


def until_it_moves(owner: Owner, past: int, projector: Program) -> None:
    until(lambda: position(owner) > past or projector.poll() is not None)
    assert projector.poll() is None, projector.communicate()[1]


def write_steadily(log: EventLog, jobs: int) -> None:
    for _ in range(jobs):
        submit_jobs(log, 1)
        time.sleep(0.01)


def assert_as_if_undisturbed(database: TestDatabase, log: EventLog, owner: Owner) -> None:
    disturbed = contents(owner)
    forget(owner)
    project_undisturbed(database.service_url, log.end(), page_size=100)
    assert disturbed == contents(owner)
    assert disturbed["recipe_details"], "there is something to compare"
