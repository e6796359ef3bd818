"""Faults of resource locks (design 4.4): all of them are found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from domain.events import Batch
from domain.recipe import events as recipe_events
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system import events as system_events
from tests.replay.audit.access_events import into_pool
from tests.replay.audit.lock_stories import (
    WHOLE_LAB,
    X_SHARED,
    XY,
    Y_SHARED,
    X,
    Y,
    after_the_batch,
    comes,
    holder,
    lab,
    name_of,
    on,
    set_of_two_waits,
    two_wait,
)
from tests.replay.audit.moves import (
    NO_LOCKS,
    aborted,
    assigned,
    cancelled,
    condition,
    configured,
    grant,
    idle,
    locked,
    narrowed,
    only,
    pending,
    place,
    queued,
    scheduled,
    start,
    step,
    waiting,
)
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

# Planted faults: the story, the invariant, its subjects


def takes_a_held_lock() -> Story:
    story = holder()
    comes(story, 2, "b", X, X)
    return story


def gets_a_held_lock_later() -> Story:
    story = two_wait()
    story.batch([locked(2, X)])
    return story


def takes_a_shared_lock_exclusively() -> Story:
    story = holder(X_SHARED)
    comes(story, 2, "f", X, X)
    return story


def starts_beside_the_whole_lab_lock() -> Story:
    story = holder(WHOLE_LAB)
    comes(story, 2, "b", NO_LOCKS, NO_LOCKS)
    return story


def takes_the_whole_lab_beside_another() -> Story:
    story = holder(NO_LOCKS)
    comes(story, 2, "b", WHOLE_LAB, WHOLE_LAB)
    return story


def two_take_one_lock_in_one_commit() -> Story:
    story = lab()
    story.job(1, {1: only("a")}, locks=X)
    story.job(2, {2: only("b")}, locks=X)
    story.batch(place(1, "a", locks=X), place(2, "b", locks=X))
    return story


def takes_the_lock_of_an_unfinished_sibling() -> Story:
    story = set_of_two_waits(lab(), gets=True)
    story.progress(2, "b", "installing", "running")
    ends = "recipe/2", recipe_events.RecipeCompleted()
    story.commit(ends, aborted(4, "its host ended"), pending("b"))
    story.batch([idle("b")])
    comes(story, 5, "e", X, X)
    return story


def one_of_two_gets_its_locks() -> Story:
    story = set_of_two_waits()
    story.complete(1, "a")
    story.batch([locked(2, on("b")), locked(4, NO_LOCKS)])
    return story


def guest_is_left_out() -> Story:
    story = set_of_two_waits()
    story.complete(1, "a")
    story.batch([locked(2, on("b")), locked(3, on("d"))])
    return story


def locks_come_in_two_decisions() -> Story:
    story = set_of_two_waits()
    story.complete(1, "a")
    story.batch([locked(2, on("b")), locked(4, NO_LOCKS)], [locked(3, on("d"))])
    return story


def one_starts_and_one_waits() -> Story:
    story = lab()
    story.job(2, {2: only("b"), 3: only("d")}, locks=X)
    story.batch([*grant(2, "b"), *grant(3, "d"), *start(2, "b", X), *start(3, "d", None)])
    return story


def gets_a_part_of_its_locks() -> Story:
    story = lab()
    comes(story, 2, "b", XY, X)
    return story


def gets_none_of_its_locks() -> Story:
    story = holder()
    comes(story, 2, "b", X, NO_LOCKS)
    return story


def gets_some_names_for_unknown_ones() -> Story:
    story = lab()
    comes(story, 2, "b", {"network": "UnknownExclusive"}, X)
    return story


def takes_more_than_declared() -> Story:
    story = lab()
    comes(story, 2, "b", X, XY)
    return story


def takes_the_whole_lab_undeclared() -> Story:
    story = lab()
    comes(story, 2, "b", X, {**X, **WHOLE_LAB})
    return story


def takes_exclusively_what_it_shares() -> Story:
    story = lab()
    comes(story, 2, "b", X_SHARED, X)
    return story


def takes_the_pool_of_another() -> Story:
    story = lab()
    story.commit(into_pool("big", "b"))
    story.job(2, {2: only("b")}, locks={"pool": {"Shared": ["$pools"]}}, profile={"pool": "UnknownShared"})
    story.batch(place(2, "b", locks={"pool": {"Shared": ["big", "small"]}}))
    return story


def guest_takes_locks() -> Story:
    story = lab()
    story.job(2, {2: only("b")}, guests={4: 2}, locks=X)
    story.batch([*grant(2, "b"), scheduled(4, "b"), *start(2, "b", X), waiting(4, "b", X)])
    return story


def narrows_to_other_locks() -> Story:
    story = holder()
    story.progress(1, "a", "installing")
    story.commit(narrowed(1, Y))
    return story


def narrows_to_the_whole_lab() -> Story:
    story = holder()
    story.commit(narrowed(1, WHOLE_LAB))
    return story


def locks_cannot_be_read() -> Story:
    story = lab()
    comes(story, 2, "b", NO_LOCKS, {"disk": "AllShared"})
    return story


def later_set_gets_the_locks_first() -> Story:
    story = two_wait()
    story.complete(1, "a")
    story.batch([locked(3, X)], [idle("a")])
    return story


def less_urgent_set_gets_the_locks_first() -> Story:
    story = two_wait(priority="Urgent")
    story.complete(1, "a")
    story.batch([locked(2, X)], [idle("a")])
    return story


def new_set_passes_one_that_could_start() -> Story:
    story = holder()
    comes(story, 2, "b", X, None)
    story.job(4, {4: only("d")}, locks=X)
    after_the_batch(story, place(4, "d", locks=X), lambda: story.complete(1, "a"))
    return story


def owed_set_is_passed() -> Story:
    story = holder(locks={"most_overtaken": 0})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y, Y)
    return story


def set_is_overtaken_too_often() -> Story:
    story = holder(locks={"most_overtaken": 2})
    comes(story, 2, "b", XY, None)
    for number, fqdn in ((3, "d"), (4, "e"), (5, "f")):
        comes(story, number, fqdn, Y_SHARED, Y_SHARED)
    return story


def owed_whole_lab_is_passed() -> Story:
    story = holder(NO_LOCKS, locks={"most_overtaken": 1})
    comes(story, 2, "b", WHOLE_LAB, None)
    comes(story, 3, "d", NO_LOCKS, NO_LOCKS)
    comes(story, 4, "e", NO_LOCKS, NO_LOCKS)
    return story


def installs_without_locks() -> Story:
    story = two_wait()
    story.commit(*step(2, "b", "installing"))
    return story


def watchdog_is_set_without_locks() -> Story:
    story = two_wait()
    story.commit(("recipe/2", recipe_events.WatchdogSet(seconds=60)))
    return story


def guest_installs_without_locks() -> Story:
    story = set_of_two_waits()
    story.commit(("recipe/4", recipe_events.RecipeInstalling(system="b")))
    return story


def waits_for_free_locks() -> Story:
    story = lab()
    comes(story, 2, "b", X, None)
    return story


def waits_for_locks_freed_after_the_batch() -> Story:
    """Recipe 3 waits for another lock, so that the end matters."""
    story = holder()
    comes(story, 5, "e", Y, Y)
    comes(story, 3, "d", Y, None)
    story.job(2, {2: only("b")}, locks=X)
    after_the_batch(story, place(2, "b", locks=None), lambda: story.complete(1, "a"))
    return story


def waits_behind_one_that_is_not_owed() -> Story:
    story = holder()
    comes(story, 3, "b", XY, None)
    comes(story, 2, "d", Y, None)
    return story


def waits_for_nothing() -> Story:
    story = holder()
    comes(story, 2, "b", NO_LOCKS, None)
    return story


def is_not_asked_after_an_end() -> Story:
    story = holder()
    comes(story, 2, "b", X, None)
    story.complete(1, "a")
    story.batch([idle("a")])
    return story


def is_not_asked_after_a_change_of_the_bound() -> Story:
    story = holder(locks={"most_overtaken": 0})
    comes(story, 3, "b", XY, None)
    comes(story, 2, "d", Y, None)
    story.commit(configured(locks={"most_overtaken": 1}))
    comes(story, 4, "e", NO_LOCKS, NO_LOCKS)
    return story


def loses_its_system_for_nothing() -> Story:
    story = two_wait()
    story.commit(queued(2, "b drains"), pending("b"))
    return story


def loses_its_system_after_the_start() -> Story:
    story = lab()
    story.job(2, {2: only("b"), 3: only("d")}, locks=X)
    story.batch([*grant(2, "b"), *grant(3, "d"), *start(2, "b", X), *start(3, "d", X)])
    again = [scheduled(3, "d"), ("system/d", system_events.SystemScheduled(recipe_id=3))]
    story.commit(condition("b", "Broken"), assigned(2, reason="b is Broken: fan"), idle("b"), *again)
    return story


def gets_locks_twice() -> Story:
    story = two_wait()
    story.complete(1, "a")
    story.batch([locked(2, X)], [idle("a")])
    story.batch([locked(2, X)])
    return story


def narrows_before_it_has_locks() -> Story:
    story = two_wait()
    story.commit(narrowed(2, NO_LOCKS))
    return story


def gets_locks_from_a_person() -> Story:
    story = two_wait()
    story.complete(1, "a")
    story.commit(locked(2, X))
    return story


def is_cancelled_without_its_sibling() -> Story:
    story = set_of_two_waits()
    story.commit(cancelled(2), cancelled(4), pending("b"))
    return story


FAULTS: list[tuple[Callable[[], Story], str, str]] = [
    (takes_a_held_lock, "no_conflicting_locks", "recipe/2 recipe-set/1"),
    (gets_a_held_lock_later, "no_conflicting_locks", "recipe/2 recipe-set/1"),
    (takes_a_shared_lock_exclusively, "no_conflicting_locks", "recipe/2 recipe-set/1"),
    (starts_beside_the_whole_lab_lock, "no_conflicting_locks", "recipe/2 recipe-set/1"),
    (takes_the_whole_lab_beside_another, "no_conflicting_locks", "recipe/2 recipe-set/1"),
    (two_take_one_lock_in_one_commit, "no_conflicting_locks", "recipe/2 recipe-set/1"),
    (takes_the_lock_of_an_unfinished_sibling, "no_conflicting_locks", "recipe/5 recipe-set/2"),
    (one_of_two_gets_its_locks, "locks_all_at_once", "recipe-set/2 recipe/3"),
    (guest_is_left_out, "locks_all_at_once", "recipe-set/2 recipe/4"),
    (locks_come_in_two_decisions, "locks_all_at_once", "recipe-set/2 recipe/3"),
    (one_starts_and_one_waits, "locks_all_at_once", "recipe-set/2 recipe/3"),
    (gets_a_part_of_its_locks, "locks_all_at_once", "recipe/2"),
    (gets_none_of_its_locks, "locks_all_at_once", "recipe/2"),
    (gets_some_names_for_unknown_ones, "locks_all_at_once", "recipe/2"),
    (takes_more_than_declared, "locks_covered", "recipe/2"),
    (takes_the_whole_lab_undeclared, "locks_covered", "recipe/2"),
    (takes_exclusively_what_it_shares, "locks_covered", "recipe/2"),
    (takes_the_pool_of_another, "locks_covered", "recipe/2"),
    (guest_takes_locks, "locks_covered", "recipe/4"),
    (narrows_to_other_locks, "locks_covered", "recipe/1"),
    (narrows_to_the_whole_lab, "locks_covered", "recipe/1"),
    (locks_cannot_be_read, "locks_covered", "recipe/2"),
    (later_set_gets_the_locks_first, "no_lock_jumped", "recipe/3 recipe-set/2"),
    (less_urgent_set_gets_the_locks_first, "no_lock_jumped", "recipe/2 recipe-set/3"),
    (new_set_passes_one_that_could_start, "no_lock_jumped", "recipe/4 recipe-set/2"),
    (owed_set_is_passed, "no_lock_jumped", "recipe/3 recipe-set/2"),
    (set_is_overtaken_too_often, "no_lock_jumped", "recipe/5 recipe-set/2"),
    (owed_whole_lab_is_passed, "no_lock_jumped", "recipe/4 recipe-set/2"),
    (installs_without_locks, "starts_with_locks", "recipe/2"),
    (watchdog_is_set_without_locks, "starts_with_locks", "recipe/2"),
    (guest_installs_without_locks, "starts_with_locks", "recipe/4"),
    (waits_for_free_locks, "starts_with_locks", "recipe-set/2 recipe/2"),
    (waits_for_locks_freed_after_the_batch, "starts_with_locks", "recipe-set/2 recipe/2"),
    (waits_behind_one_that_is_not_owed, "starts_with_locks", "recipe-set/2 recipe/2"),
    (waits_for_nothing, "starts_with_locks", "recipe-set/2 recipe/2"),
    (is_not_asked_after_an_end, "starts_with_locks", "recipe-set/2 recipe/2"),
    (is_not_asked_after_a_change_of_the_bound, "starts_with_locks", "recipe-set/2 recipe/2"),
    (loses_its_system_for_nothing, "starts_with_locks", "recipe/2 recipe-set/2"),
    (loses_its_system_after_the_start, "legal_transitions", "recipe/2"),
    (gets_locks_twice, "legal_transitions", "recipe/2"),
    (narrows_before_it_has_locks, "legal_transitions", "recipe/2"),
    (gets_locks_from_a_person, "decisions", "recipe/2"),
    (is_cancelled_without_its_sibling, "starts_together", "recipe/2 recipe/3"),
]


@pytest.mark.parametrize(("story", "invariant", "subjects"), FAULTS, ids=[name_of(row[0]) for row in FAULTS])
def test_check__planted_fault_of_locks__is_found(
    story: Callable[[], Story], invariant: str, subjects: str
) -> None:
    # The rest of a set that has got only some of its locks still waits for the others.
    beside = ["starts_with_locks"] if invariant == "locks_all_at_once" else []
    assert_caught(story(), invariant, *subjects.split(), beside=beside)


@pytest.mark.parametrize("policy", [2, 3, 4, 5])
def test_check__policy_before_real_locks__sets_start_without_them(policy: int) -> None:
    story = lab()
    for number, fqdn in ((1, "a"), (2, "b")):
        story.job(number, {number: only(fqdn)}, locks=X)
        story.decide(place(number, fqdn), policy=policy)
    assert story.violations() == []


def test_at_rest__set_waits_for_free_locks__is_found_as_overlooked_and_as_a_deadlock() -> None:
    story = holder()
    comes(story, 2, "b", X, None)
    assert story.at_rest() == []
    story.complete(1, "a")
    assert {one.invariant for one in story.at_rest()} == {"no_lock_overlooked", "nothing_unanswered"}


def test_at_rest__only_sets_without_locks_are_left__nothing_runs() -> None:
    """Recipe 3 wants the system of recipe 2, which waits for free locks."""
    story = lab()
    comes(story, 2, "b", X, None)
    story.queue(3, {3: only("b")})
    assert {one.invariant for one in story.at_rest()} == {"no_lock_overlooked", "no_deadlock"}


def test_no_lock_jumped__priority_changes_before_another_set_starts__counts_in_log_order() -> None:
    """Recipe set 2 is owed its locks: it was before recipe set 3 when the log says that this one started."""
    story = holder(locks={"most_overtaken": 1})
    comes(story, 2, "b", XY, None, priority="Low")
    story.job(3, {3: only("d")}, locks=Y)
    basis = story.end
    story.priority(2, "High")
    story.decide(place(3, "d", locks=Y), policy=POLICY_VERSION, basis=basis, batch=Batch(basis, basis, None))
    story.complete(3, "d")
    story.batch([idle("d")])
    comes(story, 4, "e", Y, None)
    assert story.violations() == []


@pytest.mark.parametrize(("seconds", "found"), [(10_799, ["watchdogs_in_time"]), (10_800, [])])
def test_watchdogs_in_time__set_waited__counts_from_its_locks(seconds: int, found: list[str]) -> None:
    story = holder()
    comes(story, 2, "b", X, None)
    story.now = story.recorded_at = story.now + timedelta(hours=4)
    story.complete(1, "a")
    story.batch([locked(2, X)], [idle("a")])
    story.now = story.recorded_at = story.now + timedelta(seconds=seconds)
    story.batch([aborted(2), pending("b")], cause="timer/watchdog/2")
    assert [one.invariant for one in story.violations()] == found


def test_watchdogs_in_time__set_waits_for_locks__has_no_deadline() -> None:
    story = holder()
    comes(story, 2, "b", X, None)
    story.now = story.recorded_at = story.now + timedelta(days=1)
    story.batch([aborted(2), pending("b")], cause="timer/watchdog/2")
    assert_caught(story, "watchdogs_in_time", "recipe/2")


def test_starts_with_locks__system_is_occupied__the_set_loses_it() -> None:
    story = two_wait()
    reason = "something runs there"
    story.commit(
        ("system/b", system_events.SystemOccupied(reason, None, None)),
        queued(2, f"b is occupied: {reason}"),
        idle("b"),
    )
    assert story.violations() == []
