"""However the log is cut into pages, the read models are the same."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from psycopg import Cursor

from domain.job.events import JobChanged
from projections import read_models
from projections.sql import SQL
from tests.domain.recipe.samples import recipe_new
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.copies import copies
from tests.projections.happened import assigned, queued, submitted
from tests.projections.random_history import project_in_pages, write_history
from tests.projections.recipe_lives import lives
from tests.projections.stories import tell_a_story
from tests.projections.telling import Told
from tests.workers.read_models import forget


def test_read_models__commit_by_commit_or_all_at_once__are_the_same(
    told: Told, database: TestDatabase
) -> None:
    tell_a_story(told)
    with owner_session(database.owner_url) as owner:
        one_by_one = copies(owner)
        forget(owner)
        told.begin_again()
        told.project(told.unread())
        assert copies(owner) == one_by_one
    assert all(one_by_one.values()), "there is something in every table"


@pytest.mark.parametrize("seed", range(3))
def test_read_models__cut_anywhere__are_the_same_to_the_byte(
    told: Told, database: TestDatabase, seed: int
) -> None:
    dice = Random(seed)
    write_history(told, dice)
    for commit in lives(dice, recipes=15):
        told.write(*commit)
    log = list(told.unread())
    with owner_session(database.owner_url) as owner:
        found = []
        for _ in range(2):
            project_in_pages(told, log, dice)
            found.append(copies(owner))
            forget(owner)
            told.begin_again()
        told.project(log)
        assert found == [copies(owner)] * 2


def test_read_models__known_rows_forgotten_before_each_page__are_the_same_to_the_byte(
    told: Told, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_a_story(told)
    for commit in lives(Random(7), first=101, recipes=15):
        told.tell(*commit)
    with owner_session(database.owner_url) as owner:
        remembered = copies(owner)
        forget(owner)
        monkeypatch.setattr(read_models, "MAX_CACHED_KEYS", 0)
        told.begin_again()
        project_in_pages(told, list(told.unread()), Random(7))
        assert copies(owner) == remembered


def test_projector__a_page_failed__its_rows_are_not_taken_for_stored(
    told: Told, database: TestDatabase
) -> None:
    told.tell(*submitted(recipe_new(1)))
    told.write(*queued(1))
    told.write(assigned(1))
    log = list(told.unread())
    with pytest.raises(AssertionError, match="unknown"):
        told.project([log[0], log[1]._replace(subject="job/77", event=JobChanged("", "scratch", None))])
    told.project(log)

    with owner_session(database.owner_url) as owner:
        stored = copies(owner)
        forget(owner)
        told.begin_again()
        told.project(told.unread())
        assert copies(owner) == stored


def test_projector__a_job_begins_on_a_page__asks_for_nothing_that_could_be_stored(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.write(*submitted(recipe_new(1)))
    told.write(*queued(1))
    asked: list[bytes] = []
    execute = Cursor.execute

    def heard(cursor: Cursor[Any], query: bytes, *arguments: Any, **options: Any) -> Cursor[Any]:
        asked.append(query)
        return execute(cursor, query, *arguments, **options)

    monkeypatch.setattr(Cursor, "execute", heard)
    told.project(told.unread())
    # Durations are of all recipes, and fetched once.
    fetched = [query for query in asked if b"SELECT found" in query and b" durations " not in query]
    assert not fetched and SQL["members"] not in asked
