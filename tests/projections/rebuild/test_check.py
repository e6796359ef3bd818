"""Tests of `--check`, which finds all differences between the live read models and the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag

import pytest

from store.event_log import EventLog
from store.migrate import migrations
from tests.harness.databases import TestDatabase
from tests.harness.programs import program
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.projections.copies import left_over, unchanged
from tests.projections.happened import registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.rebuild.repeating import repeat
from tests.projections.rebuild.silent import silent
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import position
from workers.rebuild import check

CHANGED_EVENTS = """
ALTER TABLE log.events DISABLE TRIGGER append_only;
UPDATE log.events SET state = convert_to(replace(convert_from(state, 'UTF8'), 'watchdog', 'x'), 'UTF8')
"""
LONGER_HOUR = """
UPDATE read.usage_hours SET microseconds = microseconds + 1
WHERE (group_by, hour) = (SELECT group_by, hour FROM read.usage_hours ORDER BY hour, group_by LIMIT 1)
"""
# A change of the live tables, the table, and the wrong column, or None for the whole row.
PLANTED = [
    ("UPDATE read.recipes SET reason = 'x' WHERE reason = 'watchdog'", "recipes", "reason"),
    ("DELETE FROM read.task_results", "task_results", None),
    ("INSERT INTO read.idle_pool VALUES ('nobody', 'lab-1', 1, now())", "idle_pool", None),
    # A wrong end of an interval.
    ("UPDATE read.queue SET until = 'infinity' WHERE state = 'new' AND recipe_id = 1", "queue", "until"),
    (
        "UPDATE read.jobs SET until_position = until_position + 1 WHERE job_id = 101 AND state = 'new'",
        "jobs",
        "until_position",
    ),
    (
        "UPDATE read.recipe_counts SET open_count = open_count + 1 WHERE state = 'aborted'",
        "recipe_counts",
        "open_count",
    ),
    ("UPDATE read.locks SET mode = 'Shared' WHERE name = 'n2' AND state = 'awaited'", "locks", "mode"),
    ("UPDATE read.recipe_details SET locks = '{}' WHERE recipe_id = 1", "recipe_details", "locks"),
    (
        "UPDATE read.lock_counts SET open_count = open_count + 1 WHERE level = 'network' AND state = 'held'",
        "lock_counts",
        None,
    ),
    ("DELETE FROM read.system_counts WHERE usage = 'idle' AND open_count > 0", "system_counts", None),
    (LONGER_HOUR, "usage_hours", "microseconds"),
    ("UPDATE read.job_terms SET jobs = ~jobs WHERE term = 'owner ada'", "job_terms", "jobs"),
    ("DELETE FROM read.job_systems", "job_systems", None),
    # Another order of additions.
    ("UPDATE read.durations SET seconds = seconds * (1 + 1e-15)", "durations", "seconds"),
    # The owner of the database has changed an event.
    (CHANGED_EVENTS, "recipes", "reason"),
    # The same number in another notation.
    (
        "UPDATE read.systems SET inventory = '{\"memory_mb\": 1024.0}' WHERE fqdn = 'b'",
        "systems",
        "inventory",
    ),
]


def test_check__nothing_is_wrong__finds_nothing_and_changes_nothing(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    with unchanged(owner):
        assert check(database.owner_url, silent, 10) == (story.log.end(), [])
    assert left_over(owner) == []


@pytest.mark.parametrize(("plant", "table", "column"), PLANTED)
def test_check__something_is_wrong__is_found_where_it_is(
    story: ProjectedLog, database: TestDatabase, owner: Owner, plant: str, table: str, column: str | None
) -> None:
    owner.execute(plant.encode())
    with unchanged(owner):
        _, found = check(database.owner_url, silent, 1)
    # The command that follows from the changed event has its reason, too.
    assert [each.table for each in found] == [*["commands"] * (plant is CHANGED_EVENTS), table]
    difference = found[-1]
    live, fresh = difference.live, difference.fresh
    if column is None:
        assert (live is None) != (fresh is None)
    else:
        assert live and fresh
        assert {name for name in fresh if str(live[name]) != str(fresh[name])} == {column}
    row = live or fresh or {}
    assert difference.key == {name: row[name] for name in difference.key}


def test_check__much_is_wrong__no_more_than_the_limit_of_each_table(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    owner.execute("UPDATE read.system_usage SET usage = 'lost'; UPDATE read.tasks SET result = 'lost'")
    _, found = check(database.owner_url, silent, 3)
    tables = Counter(difference.table for difference in found)
    # Counts are compared with the rows, which are wrong here.
    assert list(tables) == ["system_usage", "tasks", "system_counts"]
    assert tables["system_usage"] == tables["tasks"] == 3 >= tables["system_counts"]
    keys = [tuple(difference.key.values()) for difference in found]
    assert keys[:3] == sorted(keys[:3]), "the first of them"


def test_check__rows_of_before_the_results_of_aborted_recipes__equal_those_of_the_migration(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    for table in ("tasks", "recipe_sets", "jobs"):
        given_up = "state IN ('cancelled', 'aborted') AND result = 'Warn'"
        plant = f"UPDATE read.{table} SET result = 'Pass' WHERE {given_up}"
        assert owner.execute(plant.encode()).rowcount > 0, table
    (migration,) = [one for one in migrations() if one.name == "2026-11-23-results"]
    owner.execute(migration.text.encode())
    assert check(database.owner_url, silent, 10)[1] == []


def test_check__documents_without_new_fields__equal_those_of_the_migration(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    for kind, fields in (("pool", "{description}"), ("lab-controller", "{silent,broken_after}")):
        plant = f"UPDATE read.documents SET document = document - '{fields}'::text[] WHERE kind = '{kind}'"
        assert owner.execute(plant.encode()).rowcount > 0, kind
    assert check(database.owner_url, silent, 10)[1] != []
    (migration,) = [one for one in migrations() if one.name == "2026-12-02-defaults"]
    owner.execute(migration.text.encode())
    assert check(database.owner_url, silent, 10)[1] == []


def test_check__projector_far_behind__as_of_its_position(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    at = story.log.end()
    story.write(registered("later"))
    assert check(database.owner_url, silent, 10) == (at, [])


@pytest.fixture
def busy(database: TestDatabase, log: EventLog, owner: Owner) -> Iterator[EventLog]:
    """Append events while a projector folds them."""
    done = Flag()
    with (
        program("cli", "projector", LABLEDGER_DATABASE_URL=database.service_url),
        ThreadPoolExecutor(1) as pool,
    ):
        equip(log, systems=5)
        submit_jobs(log, 50)
        wait_until(lambda: position(owner))
        writing = pool.submit(repeat, lambda: submit_jobs(log, 1), done)
        yield log
        done.set()
        assert writing.result(20)


def test_check__live_ones_move_on__later_changes_are_no_difference(
    busy: EventLog, database: TestDatabase, owner: Owner
) -> None:
    reached = []
    for _ in range(4):
        at, found = check(database.owner_url, silent, 10)
        assert found == []
        reached.append(at)
        # They have moved meanwhile, or move on now.
        wait_until(lambda at=at: position(owner) > at)  # type: ignore[misc]
    assert reached == sorted(set(reached))
