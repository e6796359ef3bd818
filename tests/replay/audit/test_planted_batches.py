"""Queue jumps in the order at the basis of a batch are found over all commits of the batch."""

from __future__ import annotations

import pytest

from domain.events import Batch
from tests.replay.audit.moves import (
    Pair,
    assigned,
    cancelled,
    condition,
    grant,
    idle,
    only,
    pending,
    place,
    queued,
    start,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story


def two_wait() -> Story:
    """Return a story: a and d are idle, d is Broken; set 11 (Low) wants both, recipe 13 (Urgent) wants d."""
    story = opening()
    story.commit(cancelled(2))
    story.idle("e", "d")
    story.commit(condition("d", "Broken"))
    story.queue(11, {11: only("e"), 12: only("d")}, "Low")
    story.queue(13, {13: only("d")}, "Urgent")
    return story


FIRST = [*grant(11, "e"), assigned(12)]
SECOND = [*grant(12, "d"), *start(11, "e"), *start(12, "d")]


def answered(story: Story, *decisions: list[Pair], commits: int, policy: int = 5) -> None:
    """Append all decisions of one batch in one commit, or each in its own."""
    upto = story.end
    if commits == 1:
        story.decide(*decisions, policy=policy, batch=Batch(0, upto, None))
        return
    for decision in decisions:
        left = None if decision is decisions[-1] else "pending-system"
        story.decide(decision, policy=policy, batch=Batch(0, upto, left))


@pytest.mark.parametrize("commits", [1, 2])
def test_nobody_jumped__wake_up_before_the_pending_system_of_its_commit__is_found(commits: int) -> None:
    story = two_wait()
    story.commit(condition("d", "Automated"), pending("d"))
    answered(story, FIRST, SECOND, commits=commits)
    assert_caught(story, "nobody_jumped", "recipe/12", "recipe/13", "system/d")


@pytest.mark.parametrize("commits", [1, 2])
def test_nobody_jumped__pending_system_before_the_wake_up__is_not(commits: int) -> None:
    story = two_wait()
    story.commit(condition("d", "Automated"), pending("d"))
    answered(story, place(13, "d"), FIRST, commits=commits)
    assert story.violations() == []


def test_nobody_jumped__in_the_batch_after__who_is_assigned_stands_before() -> None:
    story = two_wait()
    story.commit(condition("d", "Automated"), pending("d"))
    answered(story, place(13, "d"), FIRST, commits=1)
    story.queue(14, {14: only("d")}, "Urgent")
    story.complete(13, "d")
    story.decide(SECOND, policy=5, batch=Batch(story.end, story.end, None))
    assert story.violations() == []


def test_nobody_jumped__by_a_policy_without_batches__is_judged_decision_by_decision() -> None:
    story = two_wait()
    story.commit(condition("d", "Automated"), pending("d"))
    story.decide(FIRST, SECOND, policy=4)
    assert story.violations() == []


@pytest.mark.parametrize("commits", [1, 2])
def test_nobody_jumped__one_wake_up_asks_by_name__is_found(commits: int) -> None:
    """Both systems are idle, and one event raised both triggers."""
    story = two_wait()
    story.commit(condition("d", "Automated"), pending("d"))
    story.commit(cancelled(13))
    story.decide([idle("d")], policy=4)
    story.queue(14, {14: only("d")}, "Urgent")
    answered(story, FIRST, SECOND, commits=commits)
    assert_caught(story, "nobody_jumped", "recipe/12", "recipe/14", "system/d", beside={"nobody_overlooked"})


def new_sets() -> Story:
    story = opening()
    story.commit(cancelled(2))
    story.idle("e")
    story.job(11, {11: only("e")}, "Low")
    story.job(12, {12: only("e")}, "Urgent")
    return story


@pytest.mark.parametrize("commits", [1, 2])
def test_nobody_jumped__new_sets_in_log_order__is_found(commits: int) -> None:
    story = new_sets()
    answered(story, place(11, "e"), [queued(12)], commits=commits)
    assert_caught(story, "nobody_jumped", "recipe/11", "recipe/12", "system/e")


def test_nobody_jumped__new_sets_in_rank_order__is_not() -> None:
    story = new_sets()
    answered(story, place(12, "e"), [queued(11)], commits=1)
    assert story.violations() == []


def test_nobody_jumped__new_set_submitted_behind_the_batch__does_not_rank_in_it() -> None:
    story = new_sets()
    upto = story.end
    story.job(13, {13: only("e")}, "Urgent")
    story.commit(cancelled(12))
    story.decide(place(11, "e"), policy=5, batch=Batch(0, upto, None))
    assert story.violations() == []
