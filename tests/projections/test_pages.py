"""Tests that the division of the log into pages does not change the read models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from random import Random
from typing import Any

import pytest
from psycopg import Cursor

from domain.events import Recorded
from domain.job.events import JobChanged
from projections import read_models
from projections.sql import SQL
from tests.domain.recipe.samples import recipe_new
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.copies import copies
from tests.projections.happened import assigned, queued, submitted
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import project_in_pages, write_history
from tests.projections.recipe_lives import lives
from tests.projections.spread_times import spread_times
from tests.projections.story import write_story
from tests.workers.read_models import forget


def test_read_models__commit_by_commit_or_all_at_once__are_equal(
    models: ProjectedLog, database: TestDatabase
) -> None:
    write_story(models)
    with owner_session(database.owner_url) as owner:
        spread_times(owner, Random(1), hours=30)
        forget(owner)
        models.begin_again()
        for commit in commits_of(models.unread()):
            models.project(commit)
        one_by_one = copies(owner)
        forget(owner)
        models.begin_again()
        models.project(models.unread())
        assert copies(owner) == one_by_one
    # Terms are of whole blocks of thousands of jobs.
    assert [table for table, rows in one_by_one.items() if not rows] == ["job_terms"]


@pytest.mark.parametrize("seed", range(3))
def test_read_models__random_pages__are_equal_to_the_byte(
    models: ProjectedLog, database: TestDatabase, seed: int
) -> None:
    dice = Random(seed)
    write_history(models, dice)
    for commit in lives(dice, recipes=15):
        models.write(*commit)
    with owner_session(database.owner_url) as owner:
        spread_times(owner, dice, hours=30)
        log = list(models.unread())
        found = []
        for _ in range(2):
            project_in_pages(models, log, dice)
            found.append(copies(owner))
            forget(owner)
            models.begin_again()
        models.project(log)
        assert found == [copies(owner)] * 2


def commits_of(log: Sequence[Recorded]) -> list[list[Recorded]]:
    return [list(commit) for _, commit in groupby(log, key=attrgetter("commit_end"))]


def test_read_models__cache_dropped_before_each_page__are_equal_to_the_byte(
    models: ProjectedLog, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_story(models)
    for commit in lives(Random(7), first=101, recipes=15):
        models.commit(*commit)
    with owner_session(database.owner_url) as owner:
        remembered = copies(owner)
        forget(owner)
        monkeypatch.setattr(read_models, "MAX_CACHED_KEYS", 0)
        models.begin_again()
        project_in_pages(models, list(models.unread()), Random(7))
        assert copies(owner) == remembered


def test_projector__a_page_failed__its_rows_are_not_cached(
    models: ProjectedLog, database: TestDatabase
) -> None:
    models.commit(*submitted(recipe_new(1)))
    models.write(*queued(1))
    models.write(assigned(1))
    log = list(models.unread())
    with pytest.raises(AssertionError, match="unknown"):
        models.project([log[0], log[1]._replace(subject="job/77", event=JobChanged("", "scratch", None))])
    models.project(log)

    with owner_session(database.owner_url) as owner:
        stored = copies(owner)
        forget(owner)
        models.begin_again()
        models.project(models.unread())
        assert copies(owner) == stored


def test_projector__a_job_begins_on_a_page__loads_no_rows_for_it(
    models: ProjectedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.write(*submitted(recipe_new(1)))
    models.write(*queued(1))
    asked: list[bytes] = []
    execute = Cursor.execute

    def heard(cursor: Cursor[Any], query: bytes, *arguments: Any, **options: Any) -> Cursor[Any]:
        asked.append(query)
        return execute(cursor, query, *arguments, **options)

    monkeypatch.setattr(Cursor, "execute", heard)
    models.project(models.unread())
    # Durations are shared by all recipes, and fetched once.
    fetched = [query for query in asked if b"SELECT found" in query and b" durations " not in query]
    assert not fetched and SQL["members"] not in asked
