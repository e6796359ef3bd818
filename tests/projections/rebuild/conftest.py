"""A log in which much has happened: told once, and copied for each test that begins with it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.harness.databases import TestDatabase
    from tests.harness.pool import ServerPool
    from tests.projections.telling import Told


@pytest.fixture(scope="package")
def told_once(servers: ServerPool) -> Iterator[TestDatabase]:
    """Something of everything, and systems that a good deal happened to."""
    from tests.projections.random_history import project_in_pages, write_history
    from tests.projections.recipe_lives import lives
    from tests.projections.stories import tell_a_story
    from tests.projections.telling import telling

    with servers.databases("embedded").fresh() as database:
        with telling(database) as told:
            tell_a_story(told)
            dice = Random(5)
            write_history(told, dice)
            for commit in lives(dice, first=101, recipes=10):
                told.write(*commit)
            project_in_pages(told, list(told.unread()), dice)
        yield database


@pytest.fixture
def database(servers: ServerPool, request: pytest.FixtureRequest) -> Iterator[TestDatabase]:
    like = request.getfixturevalue("told_once") if "story" in request.fixturenames else None
    with servers.databases("embedded").fresh(like) as fresh:
        yield fresh


@pytest.fixture
def story(told: Told) -> Told:
    """Who begins with it goes on from it."""
    return told
