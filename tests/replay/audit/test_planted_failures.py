"""Planted faults: failing systems that do not become Broken, and recipes that do not keep their systems."""

from __future__ import annotations

from typing import Any

import pytest

from domain.directory.events import LabControllerChanged
from domain.recipe import events as recipe_events
from domain.system import events as system_events
from tests.replay.audit.moves import LAB, Pair, aborted, cancelled, condition, only, pending, place, step
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

TREE, OTHER_TREE = 1, 2
KEEP = {"when": "always", "duration_seconds": 100}


def one_system() -> Story:
    story = Story()
    story.labs(LAB)
    for tree_id in (TREE, OTHER_TREE):
        story.tree(tree_id, LAB)
    story.idle("a")
    return story


def installs(story: Story, number: int, tree_id: int = TREE, **new: Any) -> None:
    """Submit a job of its own that begins to install a."""
    story.job(number, {number: only("a")}, trees={number: tree_id}, **new)
    story.decide(place(number, "a"))
    story.commit(*step(number, "a", "installing"))


def failed(number: int, jobs: list[int], distros: list[str]) -> Pair:
    return "system/a", system_events.SystemProvisioningFailed(number, "no boot", jobs, distros)


def fails_twice(tree_id: int, *last: Pair, limit: int | None = None) -> Story:
    story = one_system()
    if limit is not None:
        story.commit((f"lab-controller/{LAB}", LabControllerChanged(broken_after=limit)))
    installs(story, 1)
    story.commit(aborted(1), pending("a"), failed(1, [1], ["tree 1"]))
    installs(story, 2, tree_id)
    story.commit(*last)
    return story


TWO_JOBS = failed(2, [1, 2], ["tree 1", "tree 2"])
NOT_BROKEN = (aborted(2), pending("a"), TWO_JOBS)
BROKEN = (TWO_JOBS, condition("a", "Broken"), aborted(2), ("system/a", system_events.SystemIdle()))


def test_broken_when_failing__second_failure_and_it_stays_automated__is_found() -> None:
    assert_caught(fails_twice(OTHER_TREE, *NOT_BROKEN), "broken_when_failing", "system/a")


@pytest.mark.parametrize(
    ("tree_id", "limit", "last"),
    [
        (OTHER_TREE, None, BROKEN),
        (OTHER_TREE, 3, NOT_BROKEN),
        (OTHER_TREE, 0, NOT_BROKEN),
        (TREE, None, (aborted(2), pending("a"), failed(2, [1, 2], ["tree 1"]))),
    ],
    ids=["broken", "limit-of-three", "no-limit", "one-tree"],
)
def test_broken_when_failing__as_the_limit_says__is_not(
    tree_id: int, limit: int | None, last: tuple[Pair, ...]
) -> None:
    assert fails_twice(tree_id, *last, limit=limit).violations() == []


@pytest.mark.parametrize("jobs", [[1, 2], [2]])
def test_broken_when_failing__first_failure_kept_the_system__is_in_the_row(jobs: list[int]) -> None:
    story = one_system()
    installs(story, 1, reservesys=KEEP)
    kept = recipe_events.RecipeReserved("a", 100, "no boot")
    story.commit(("recipe/1", kept), ("system/a", system_events.SystemRunning(1)), failed(1, [1], ["tree 1"]))
    story.commit(aborted(1, "no boot"), pending("a"))
    installs(story, 2)
    story.commit(aborted(2), pending("a"), failed(2, jobs, ["tree 1"]))
    if jobs == [1, 2]:
        assert story.violations() == []
    else:
        assert_caught(story, "broken_when_failing", "system/a")


def test_broken_when_failing__failure_left_out_of_the_row__is_found() -> None:
    story = fails_twice(OTHER_TREE, aborted(2), pending("a"), failed(2, [2], ["tree 2"]))
    assert_caught(story, "broken_when_failing", "system/a")


def test_broken_when_failing__its_recipe_goes_on__is_found() -> None:
    story = one_system()
    installs(story, 1)
    story.commit(failed(1, [1], ["tree 1"]))
    assert_caught(story, "broken_when_failing", "system/a", "recipe/1")


def keeps(seconds: int = 100, reason: str | None = "no boot") -> Story:
    """Return a story: recipe 1 was given up during its installation and keeps a."""
    story = one_system()
    installs(story, 1, reservesys=KEEP)
    kept = recipe_events.RecipeReserved("a", seconds, reason)
    story.commit(("recipe/1", kept), ("system/a", system_events.SystemRunning(1)))
    return story


def expire(story: Story, event: Pair, cause: str = "timer/watchdog/1") -> Story:
    story.now = story.recorded_at = story.now.replace(year=2030)
    story.decide([event, pending("a")], cause=cause, policy=5)
    return story


def test_kept_as_asked__aborted_with_the_first_reason_when_its_time_is_over__is_not() -> None:
    assert expire(keeps(), aborted(1, "no boot")).violations() == []


COMPLETED: Pair = ("recipe/1", recipe_events.RecipeCompleted())


@pytest.mark.parametrize("event", [COMPLETED, aborted(1, "its time is over")])
def test_kept_as_asked__ends_otherwise_than_it_was_given_up__is_found(event: Pair) -> None:
    assert_caught(expire(keeps(), event), "kept_as_asked", "recipe/1")


def test_kept_as_asked__scheduler_ends_it_for_another_recipe__is_found() -> None:
    story = keeps()
    cause = f"event/{story.end}"
    assert_caught(expire(story, aborted(1, "no boot"), cause), "kept_as_asked", "recipe/1")


def test_kept_as_asked__watchdog_of_an_installation__is_found_unless_kept() -> None:
    story = one_system()
    installs(story, 1, reservesys=KEEP)
    assert_caught(expire(story, aborted(1)), "kept_as_asked", "recipe/1")


@pytest.mark.parametrize("end", ["cancelled", "Broken"])
def test_kept_as_asked__cancelled_or_broken__wins(end: str) -> None:
    story = keeps()
    if end == "cancelled":
        story.commit(cancelled(1), pending("a"))
    else:
        story.commit(
            condition("a", end), aborted(1, "its system is Broken"), ("system/a", system_events.SystemIdle())
        )
    assert story.violations() == []
