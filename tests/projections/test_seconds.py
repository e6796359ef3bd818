"""Tests of the seconds in each state, for a recipe and for the recipes of a job, as of any position."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api.rest.resources.shapes import seconds_document
from domain.recipe import events as recipe_events
from tests.projections.happened import Happened, host, of, queued, scheduled, submitted, waiting
from tests.projections.projected_log import ProjectedLog
from tests.projections.timed_commits import BEGINNING, commit_at

# Recipe 1 loses its system once and keeps the second one; recipe 2 is never placed.
STORY: list[tuple[float, list[Happened]]] = [
    (0, submitted(host(1), host(2))),
    (1, queued(1, 2)),
    (10, scheduled("a", 1)),
    (12, waiting("a", 1)),
    (17, queued(1, reason="a is Broken")),
    (20, [*scheduled("b", 1), *waiting("b", 1)]),
    (30, of("recipe", 1, recipe_events.RecipeInstalling("b"))),
    (50, of("recipe", 1, recipe_events.RecipeRunning("b"))),
    (80, of("recipe", 1, recipe_events.RecipeReserved("b", 60))),
    (99, of("recipe", 1, recipe_events.RecipeCompleted())),
]


@pytest.fixture
def whole_story(models: ProjectedLog) -> ProjectedLog:
    commit_at(models, STORY)
    return models


def spent(models: ProjectedLog, at: int, seconds: float, **of: int) -> dict[str, object]:
    """Return the seconds by state and phase, as of a position and a time."""
    asked = {"job_id": None, "recipe_set_id": None, "recipe_id": None, **of}
    moment = BEGINNING + timedelta(seconds=seconds)
    return seconds_document(models.rows("seconds_in_states", at=at, moment=moment, **asked))


def end_of(models: ProjectedLog, commits: int) -> int:
    """Return the position after that many commits of the story."""
    return sum(len(events) for _, events in STORY[:commits])


def test_seconds__recipe_through_all_states__each_apart_and_the_phases(whole_story: ProjectedLog) -> None:
    unplaced = {"new": 1, "queued": 9 + 3, "scheduled": 2}
    placed = {"waiting": 5 + 10, "installing": 20, "running": 30, "reserved": 19}
    phases = {"queueing": 15, "provisioning": 35, "execution": 30, "reserved": 19}
    found = spent(whole_story, whole_story.log.end(), 500, recipe_id=1)
    assert found == {"by_state": unplaced | placed, **phases}


def test_seconds__as_of_the_middle__open_states_last_until_then(whole_story: ProjectedLog) -> None:
    phases = {"queueing": 11.5, "provisioning": 0, "execution": 0, "reserved": 0}
    found = spent(whole_story, end_of(whole_story, 3), 11.5, recipe_id=1)
    assert found == {"by_state": {"new": 1, "queued": 9, "scheduled": 1.5}, **phases}


def test_seconds__of_a_job_or_set__those_of_its_recipes_together(whole_story: ProjectedLog) -> None:
    end = whole_story.log.end()
    found = spent(whole_story, end, 500, job_id=1)
    assert found == spent(whole_story, end, 500, recipe_set_id=1)
    assert (found["queueing"], found["execution"]) == (15 + 500, 30)


def test_seconds__now__an_open_state_counts_up_to_the_clock(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1)))
    asked = {"job_id": None, "recipe_set_id": None, "recipe_id": 1, "moment": None}
    first, second = (models.row("seconds_in_states", **asked)["seconds"] for _ in range(2))
    assert 0 <= first < second < 60
