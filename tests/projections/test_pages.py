"""However the log is cut into pages, the read models are the same."""

from __future__ import annotations

from random import Random

import pytest

from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.copies import copies
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
