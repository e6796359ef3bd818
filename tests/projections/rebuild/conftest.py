"""A log with a long story, recorded once and copied for each test that starts from it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.harness.databases import TestDatabase
    from tests.harness.pool import ServerPool
    from tests.projections.projected_log import ProjectedLog


@pytest.fixture(scope="package")
def recorded_story(servers: ServerPool) -> Iterator[TestDatabase]:
    """Record events of all kinds, and a random history of systems."""
    from domain.job.events import JobChanged, JobSubmitted
    from projections.job_terms import BLOCK_JOBS
    from tests.harness.sessions import owner_session
    from tests.projections.happened import of
    from tests.projections.projected_log import projected_log
    from tests.projections.random_history import project_in_pages, write_history
    from tests.projections.recipe_lives import lives
    from tests.projections.spread_times import spread_times
    from tests.projections.story import write_story
    from tests.workers.read_models import forget

    with servers.databases("embedded").fresh() as database:
        with projected_log(database) as models, owner_session(database.owner_url) as owner:
            write_story(models)
            dice = Random(5)
            write_history(models, dice)
            for number, commit in enumerate(lives(dice, first=101, recipes=10)):
                models.write(*commit)
                if number == 20:
                    # This closes the blocks of all other jobs; later terms of these are added to stored rows.
                    submission = JobSubmitted("ada", "ada", None, "a much later job", (), {})
                    models.write((f"job/{4 * BLOCK_JOBS}", submission))
            models.write(*of("job", 101, JobChanged("changed late", "scratch", "linux")))
            spread_times(owner, dice, hours=30)
            forget(owner)
            models.begin_again()
            project_in_pages(models, list(models.unread()), dice)
        yield database


@pytest.fixture
def database(servers: ServerPool, request: pytest.FixtureRequest) -> Iterator[TestDatabase]:
    like = request.getfixturevalue("recorded_story") if "story" in request.fixturenames else None
    with servers.databases("embedded").fresh(like) as fresh:
        yield fresh


@pytest.fixture
def story(models: ProjectedLog) -> ProjectedLog:
    """Return the log with the story, to be continued."""
    return models
