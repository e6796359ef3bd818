"""Planted faults of deadlines: recipes that end and sets that are given up before their time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.directory.events import DistroTreeRemoved
from domain.recipe import events as recipe_events
from tests.replay.audit.moves import aborted, pending
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import AT, Story

PROVISIONING, TASK = 10_800, 1_800


def later(story: Story, seconds: float, recorded_seconds: float) -> None:
    """Advance each clock to this long after the recipe became waiting."""
    story.now, story.recorded_at = AT + timedelta(seconds=seconds), AT + timedelta(seconds=recorded_seconds)


def expire(story: Story, policy: int = 5) -> None:
    story.decide([aborted(1), pending("a")], cause="timer/watchdog/1", policy=policy)


@pytest.mark.parametrize("policy", [4, 5])
def test_watchdogs_in_time__time_is_over__no_violation(policy: int) -> None:
    story = opening()
    later(story, PROVISIONING, PROVISIONING)
    expire(story, policy)
    assert story.violations() == []


@pytest.mark.parametrize("policy", [4, 5])
def test_watchdogs_in_time__a_second_early__is_found(policy: int) -> None:
    story = opening()
    later(story, PROVISIONING - 1, PROVISIONING - 1)
    expire(story, policy)
    assert_caught(story, "watchdogs_in_time", "recipe/1")


# The clock of the process that took the report was 1,900 s slow.
@pytest.mark.parametrize(("policy", "is_found"), [(4, False), (5, True)])
def test_watchdogs_in_time__report_by_a_process_that_is_behind__counts_from_its_record(
    policy: int, is_found: bool
) -> None:
    story = opening()
    story.progress(1, "a", "installing", "running")
    later(story, -1_900, 0)
    story.commit(("recipe/1", recipe_events.TaskStarted(1)))
    later(story, 0, 0)
    expire(story, policy)
    if is_found:
        assert_caught(story, "watchdogs_in_time", "recipe/1")
    else:
        assert story.violations() == []


def test_watchdogs_in_time__without_a_deadline__is_found() -> None:
    story = opening()
    later(story, 10 * PROVISIONING, 10 * PROVISIONING)
    story.decide([aborted(2)], cause="timer/watchdog/2", policy=5)
    assert_caught(story, "watchdogs_in_time", "recipe/2")


def test_watchdogs_in_time__lab_gave_it_more_time__counts_from_then() -> None:
    story = opening()
    story.commit(("recipe/1", recipe_events.WatchdogSet(seconds=20_000)))
    later(story, 19_999, 19_999)
    expire(story)
    assert_caught(story, "watchdogs_in_time", "recipe/1")


@pytest.mark.parametrize(
    ("policy", "away_seconds", "is_found"), [(5, 599, True), (5, 600, False), (4, 0, False)]
)
def test_trees_away_in_time__set_is_given_up__not_before_ten_minutes(
    policy: int, away_seconds: int, is_found: bool
) -> None:
    story = opening()
    story.commit(("distro-tree/1", DistroTreeRemoved()))
    later(story, away_seconds, away_seconds)
    story.decide([aborted(2)], cause="timer/distro-tree/1", policy=policy)
    if is_found:
        assert_caught(story, "trees_away_in_time", "recipe/2")
    else:
        assert story.violations() == []


def test_trees_away_in_time__tree_is_back__set_that_is_given_up_is_found() -> None:
    story = opening()
    story.commit(("distro-tree/1", DistroTreeRemoved()))
    story.tree(1, "lab-1")
    later(story, 10_000, 10_000)
    story.decide([aborted(2)], cause="timer/distro-tree/1", policy=5)
    assert_caught(story, "trees_away_in_time", "recipe/2")
