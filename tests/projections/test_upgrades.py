"""Migrations that fill new columns and tables of the read models: they equal the fold of the same log."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from store.migrate import migrations
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import project_in_pages
from tests.projections.spread_times import spread_times
from tests.projections.used_systems import HOURS, write_uses

# The statements that undo a migration: the intervals of before have no reasons, and so are longer.
UNDONE = {
    "2027-01-03-persons-of-systems": b"DROP TABLE read.system_persons",
    "2027-01-03-unavailable-systems": b"""
CREATE TEMP TABLE longer AS
WITH marked AS (
    SELECT *, row_number() OVER history = 1 OR (condition, usage, recipe_id)
              IS DISTINCT FROM lag((condition, usage, recipe_id)) OVER history AS is_begin
    FROM read.system_usage WINDOW history AS (PARTITION BY fqdn ORDER BY since_position)
), placed AS (
    SELECT *, count(*) FILTER (WHERE is_begin) OVER (PARTITION BY fqdn ORDER BY since_position) AS place
    FROM marked
)
SELECT fqdn, min(since_position) AS since_position, max(until_position) AS until_position, max(until) AS until
FROM placed GROUP BY fqdn, place;
DELETE FROM read.system_usage u WHERE NOT EXISTS (
    SELECT FROM longer l WHERE l.fqdn = u.fqdn AND l.since_position = u.since_position);
UPDATE read.system_usage u SET until_position = l.until_position, until = l.until
FROM longer l WHERE l.fqdn = u.fqdn AND l.since_position = u.since_position;
ALTER TABLE read.system_usage DROP COLUMN unavailable;
DELETE FROM read.usage_hours WHERE group_by = 'user';
DROP TABLE longer""",
    "2027-01-14-counts-of-unavailable-systems": b"""
DELETE FROM read.system_counts;
ALTER TABLE read.system_counts DROP CONSTRAINT system_counts_key, DROP COLUMN unavailable,
    ADD CONSTRAINT system_counts_pkey PRIMARY KEY (condition, usage)""",
}
TABLES = ("system_persons", "system_usage", "usage_hours", "system_counts")


@pytest.fixture
def owner(database: TestDatabase) -> Iterator[Owner]:
    with owner_session(database.owner_url) as session:
        yield session


def rows_of(owner: Owner) -> dict[str, list[dict[str, Any]]]:
    return {
        table: [
            row for (row,) in owner.execute(f"SELECT to_jsonb(t) FROM read.{table} AS t ORDER BY 1".encode())
        ]
        for table in TABLES
    }


def test_upgrade__history_of_before__has_the_rows_that_its_fold_has(
    models: ProjectedLog, owner: Owner
) -> None:
    dice = Random(2)
    write_uses(models, dice)
    spread_times(owner, dice, HOURS)
    project_in_pages(models, list(models.unread()), dice)
    folded = rows_of(owner)
    reasons = {row["unavailable"] for row in folded["system_usage"]}
    assert reasons == {None, "draining", "occupied", "disabled"}
    assert any(row["reserved_by"] for row in folded["system_persons"]), "no person"
    for name, undo in UNDONE.items():
        (migration,) = (one for one in migrations() if one.name == name)
        owner.execute(undo)
        with owner.transaction():
            owner.execute(migration.text.encode())
    upgraded = rows_of(owner)
    for table in TABLES:
        assert upgraded[table] == folded[table]
