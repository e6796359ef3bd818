"""The audit finds faults of decisions: their stamps, batches and deadlines."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from domain.directory.events import DistroTreeRemoved
from domain.events import Basis, Batch, Stamp
from domain.recipe import events as recipe_events
from replay.audit import EventRecord, check, from_recorded
from tests.replay.audit.moves import (
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
    start,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import AT, Story


def _decided() -> Story:
    """Return the opening with one more job and its decision."""
    story = opening()
    story.job(5, {5: {"force": "a"}})
    story.decide([queued(5)])
    return story


def _with(records: list[EventRecord], **fields: Any) -> list[str]:
    """Return the violations if the last event had these other fields."""
    *before, last = records
    return [violation.invariant for violation in check([*before, last._replace(**fields)])]


@pytest.mark.parametrize(
    "fields",
    [
        {"actor": "ada"},
        {"basis": None, "number": None},
        {"basis": 10**9},
        # Not even its own earlier decisions.
        {"basis": 0, "cause": "timer/watchdog"},
        {"number": 1},
        {"number": None},
        {"cause": "request/1"},
        {"cause": "timer/"},
        {"cause": "event/1000000000"},
        {"cause": "event/one"},
        {"at": AT + timedelta(microseconds=1)},
    ],
    ids=str,
)
def test_decisions__stamped_otherwise__is_found(fields: dict[str, object]) -> None:
    records = list(from_recorded(_decided().log))
    assert _with(records, cause="timer/watchdog") == []
    assert _with(records, **fields) == ["decisions"]


def test_decisions__basis_within_a_commit__is_found() -> None:
    story = _decided()
    story.complete(1, "a")
    story.decide([queued(2)], basis=story.end - 1)
    assert_caught(story, "decisions", "recipe/2", beside={"legal_transitions"})


def test_decisions__basis_falls__is_found() -> None:
    story = opening()
    before = story.end
    story.decide(place(2, "b"))
    story.commit(pending("b"))
    story.decide([idle("b")], basis=before)
    assert_caught(story, "decisions", "system/b", beside=None)


def test_decisions__two_causes_in_one__is_found() -> None:
    story = opening()
    story.job(5, {5: {"force": "a"}, 6: {"force": "a"}})
    basis = Basis(story.end, AT, epoch=1, policy_version=1)
    stamps = [Stamp(AT, "scheduler", f"event/{cause}", basis, 0) for cause in (1, basis.position)]
    story.commit(queued(5), queued(6), stamps=stamps)
    assert_caught(story, "decisions", "recipe/5", "recipe/6")


def test_decisions__grant_by_somebody_else__is_found() -> None:
    story = opening()
    story.job(5, {5: {"force": "b"}})
    story.commit(*place(5, "b"))
    assert_caught(story, "decisions", "recipe/5")


def test_whole_commits__last_event_is_missing__is_found() -> None:
    story = opening()
    story.progress(1, "a", "installing")
    records = list(from_recorded(story.log))
    assert "whole_commits" in {violation.invariant for violation in check(records[:-1])}


def test_whole_commits__positions_fall__is_found() -> None:
    first, second, *rest = from_recorded(opening().log)
    assert [violation.invariant for violation in check([second, first, *rest])] == ["whole_commits"]


def test_nobody_fenced_writes__next_scheduler_takes_over__is_sound() -> None:
    story = opening()
    story.queue(5, {5: only("a")})
    story.commit(cancelled(5))
    story.complete(1, "a")
    story.decide(place(2, "a"), epoch=3)
    assert story.violations() == []


def test_nobody_fenced_writes__the_one_before_writes_later__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a")})
    story.decide([queued(5)], epoch=2)
    story.complete(1, "a")
    story.decide(place(2, "a"), epoch=1)
    assert_caught(story, "nobody_fenced_writes", "recipe/2")


def test_nobody_fenced_writes__two_epochs_in_one_commit__is_found() -> None:
    story = opening()
    story.job(5, {5: only("a"), 6: only("a")})
    stamps = [
        Stamp(AT, "scheduler", f"event/{story.end}", Basis(story.end, AT, epoch, policy_version=1), 0)
        for epoch in (2, 1)
    ]
    story.commit(queued(5), queued(6), stamps=stamps)
    assert_caught(story, "nobody_fenced_writes", "recipe/6")


def test_nobody_fenced_writes__no_epoch__is_found() -> None:
    records = list(from_recorded(_decided().log))
    assert _with(records, epoch=None) == ["nobody_fenced_writes"]


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


def test_nobody_jumped__in_the_next_batch__assigned_recipe_ranks_first() -> None:
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


@pytest.mark.parametrize(("late", "is_found"), [(7_199, True), (7_200, False)])
def test_watchdogs_in_time__person_extended_it__counts_from_the_former_deadline(
    late: int, is_found: bool
) -> None:
    story = opening()
    story.commit(("recipe/1", recipe_events.RecipeExtended(seconds=7_200, reason=None)))
    later(story, PROVISIONING + late, PROVISIONING + late)
    expire(story)
    if is_found:
        assert_caught(story, "watchdogs_in_time", "recipe/1")
    else:
        assert story.violations() == []


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
