"""The audit finds open jobs that the scheduler closes too early, and sets that do not wait for the close."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.job.events import JobClosed, JobExtended, JobOpened
from tests.replay.audit.moves import Pair, cancelled, only, pending, place
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

CLOSED: Pair = ("job/6", JobClosed("its last recipe ended 30 s ago"))


def open_job(*recipes: int) -> Story:
    """Return a story with job 6, which is open and has sets with these recipes; b is idle."""
    story = opening()
    story.commit(("job/6", JobOpened(())))
    for number in recipes:
        story.commit(("job/6", JobExtended((number,), {"recipe_sets": [{}]})))
        story.job(number, {number: only("b")}, submitted={"job_id": 6})
    return story


def close(story: Story, seconds: float) -> Story:
    later = timedelta(seconds=seconds)
    story.now, story.recorded_at = story.now + later, story.recorded_at + later
    story.decide([CLOSED], cause="timer/job/6", policy=7)
    return story


@pytest.mark.parametrize(("seconds", "is_found"), [(29, True), (30, False)])
@pytest.mark.parametrize("recipes", [(), (6,)])
def test_jobs_closed_in_time__scheduler_closes_a_job__not_before_30_s(
    recipes: tuple[int, ...], seconds: float, is_found: bool
) -> None:
    story = open_job(*recipes)
    story.commit(*map(cancelled, recipes)) if recipes else None
    close(story, seconds)
    if is_found:
        assert_caught(story, "jobs_closed_in_time", "job/6")
    else:
        assert story.violations() == []


def test_jobs_closed_in_time__a_recipe_has_not_ended__is_found() -> None:
    story = open_job(6, 7)
    story.commit(cancelled(6))
    assert_caught(close(story, 1_000), "jobs_closed_in_time", "job/6")


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("recipes", [(), (6,)])
def test_admitted__depends_on_an_open_job__not_before_it_is_closed(
    recipes: tuple[int, ...], is_closed: bool
) -> None:
    story = open_job(*recipes)
    if recipes:
        story.commit(*map(cancelled, recipes))
    states = ["completed", "cancelled"]
    story.job(8, {8: only("b")}, submitted={"depends_on": [{"job": 6, "states": states}]})
    if is_closed:
        story.commit(CLOSED)
    story.commit(pending("b"))
    story.batch(place(8, "b"))
    if is_closed:
        assert story.violations() == []
    else:
        assert_caught(story, "admitted", "recipe/8", "recipe-set/8", "system/b")
