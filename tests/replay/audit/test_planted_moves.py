"""The audit finds faults of transitions, of failed recipes, and of a scheduler that does not decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.directory.events import LabControllerChanged
from domain.recipe import events as recipe_events
from domain.system import events as system_events
from tests.replay.audit.moves import (
    LAB,
    Pair,
    aborted,
    assigned,
    cancelled,
    condition,
    grant,
    idle,
    only,
    pending,
    place,
    queued,
    step,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

Plant = Callable[[Story], None]


def finished_recipe_changes(story: Story) -> None:
    story.complete(1, "a")
    story.commit(("recipe/1", recipe_events.WatchdogSet(seconds=60)))


def recipe_skips_a_state(story: Story) -> None:
    story.commit(*step(1, "a", "running"))


def recipe_begins_twice(story: Story) -> None:
    story.job(1, {1: only("a")})


def recipe_was_never_new(story: Story) -> None:
    story.commit(queued(77))


def system_skips_pending(story: Story) -> None:
    story.commit(pending("b"))
    story.commit(pending("b"))


def system_passes_from_recipe_to_recipe(story: Story) -> None:
    story.commit(("system/a", system_events.SystemInstalling(recipe_id=2)))


def system_runs_for_a_recipe_at_once(story: Story) -> None:
    story.commit(("system/b", system_events.SystemRunning(recipe_id=2)))


def version_is_left_out(story: Story) -> None:
    story._versions["recipe/1"] += 1
    story.progress(1, "a", "installing")


@pytest.mark.parametrize(
    ("plant", "subject", "beside"),
    [
        (finished_recipe_changes, "recipe/1", set()),
        (recipe_skips_a_state, "recipe/1", set()),
        (recipe_begins_twice, "recipe/1", {"in_step"}),
        (recipe_was_never_new, "recipe/77", set()),
        (system_skips_pending, "system/b", set()),
        (system_passes_from_recipe_to_recipe, "system/a", {"in_step"}),
        (system_runs_for_a_recipe_at_once, "system/b", {"in_step"}),
        (version_is_left_out, "recipe/1", set()),
    ],
)
def test_legal_transitions__planted_move__is_found(plant: Plant, subject: str, beside: set[str]) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "legal_transitions", subject, beside=beside)


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


def test_kept_as_asked__person_returns_it_with_a_reason__follows_the_first_one() -> None:
    for reason, is_found in (("no boot", False), ("no boot; returned: seen", False), ("seen", True)):
        story = keeps()
        story.commit(aborted(1, reason), pending("a"))
        assert bool(story.violations()) == is_found, reason
    assert_caught(expire(keeps(), aborted(1, "no boot; returned: seen")), "kept_as_asked", "recipe/1")


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


LOST = "its lab controller does not run it any more"


def test_kept_as_asked__its_lab_does_not_run_it__ends_unless_the_scheduler_says_so() -> None:
    story = keeps()
    story.commit(aborted(1, LOST), pending("a"))
    assert story.violations() == []
    assert_caught(expire(keeps(), aborted(1, LOST)), "kept_as_asked", "recipe/1")


def _unrest(story: Story) -> dict[str, tuple[str, ...]]:
    return {violation.invariant: violation.subjects for violation in story.at_rest()}


def test_at_rest__recipe_still_new_and_system_still_pending__are_found() -> None:
    story = opening()
    story.job(5, {5: only("a")})
    story.commit(pending("b"))
    assert [violation.subjects for violation in story.at_rest()] == [("recipe/5",), ("system/b",)]


def test_at_rest__queued_recipe_beside_an_idle_system__is_found() -> None:
    story = opening()
    story.queue(5, {5: only("b")})
    assert _unrest(story) == {"no_idle_system_wanted": ("recipe/5", "system/b")}


def test_at_rest__recipe_that_forces_an_idle_manual_system__is_found() -> None:
    story = opening()
    story.queue(5, {5: {"force": "M"}})
    assert _unrest(story) == {"no_idle_system_wanted": ("recipe/5", "system/m")}


def test_at_rest__the_rest_of_its_set_cannot_be_had__may_wait() -> None:
    story = opening()
    story.system("e", condition="Broken")
    story.queue(5, {5: only("b"), 6: only("e")})
    assert _unrest(story) == {}


def test_at_rest__holder_whose_system_broke_did_not_let_go__is_found() -> None:
    story = opening()
    story.idle("e")
    story.job(4, {4: only("e")})
    story.decide(place(4, "e"))
    story.job(5, {5: only("b"), 6: only("e")})
    story.decide([*grant(5, "b"), assigned(6)])
    story.complete(4, "e")
    story.commit(condition("e", "Broken"), idle("e"))
    assert _unrest(story) == {"no_holder_stuck": ("recipe-set/5", "recipe/5", "recipe/6")}


def test_at_rest__deadlock__is_found() -> None:
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.idle("a", "b")
    story.job(1, {11: only("a"), 12: only("b")})
    story.job(2, {21: only("b"), 22: only("a")})
    story.decide([*grant(11, "a"), assigned(12)], [*grant(21, "b"), assigned(22)])
    found = story.at_rest()
    assert {violation.invariant for violation in found} == {"no_holder_stuck", "no_deadlock"}
    assert {violation.subjects[0] for violation in found} == {"recipe-set/1", "recipe-set/2"}


def test_at_rest__waits_for_running_recipe__may_wait() -> None:
    story = opening()
    story.queue(5, {5: only("a"), 6: only("a", "d")})
    assert _unrest(story) == {}


def test_at_rest__nobody_can_ever_run_it__may_wait() -> None:
    story = opening()
    story.commit(condition("b", "Broken"))
    story.job(5, {5: only("b")})
    story.decide([queued(5)])
    story.complete(1, "a")
    story.decide(place(2, "a"))
    story.complete(2, "a")
    story.decide([idle("a")])
    assert _unrest(story) == {}
