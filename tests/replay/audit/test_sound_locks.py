"""The audit finds nothing in sound stories with resource locks (design 4.4)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.directory.events import LabControllerDisabled, LabControllerSilent
from domain.events import Batch
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetChanged
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system import events as system_events
from tests.replay.audit.access_events import into_pool, lent
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
    new,
    only,
    pending,
    place,
    queued,
    scheduled,
    start,
    waiting,
)
from tests.replay.audit.story import Story


def gets_locks_after_an_end() -> Story:
    story = two_wait()
    story.complete(1, "a")
    story.batch([locked(2, X)], [idle("a")])
    story.complete(2, "b")
    story.batch([locked(3, X)], [idle("b")])
    return story


def more_urgent_set_comes_first() -> Story:
    story = two_wait(priority="Urgent")
    story.complete(1, "a")
    story.batch([locked(3, X)], [idle("a")])
    return story


def priority_is_changed() -> Story:
    story = two_wait()
    story.priority(3, "High")
    story.complete(1, "a")
    story.batch([locked(3, X)], [idle("a")])
    return story


def sets_without_conflict_start() -> Story:
    story = holder(X_SHARED)
    comes(story, 2, "b", X_SHARED, X_SHARED)
    comes(story, 3, "d", Y, Y)
    comes(story, 4, "e", X, None)
    comes(story, 5, "f", NO_LOCKS, NO_LOCKS)
    return story


def names_conflict_in_all_labs() -> Story:
    story = holder()
    comes(story, 5, "f", X, None)
    return story


def set_of_two_starts() -> Story:
    story = set_of_two_waits()
    story.complete(1, "a")
    story.batch([locked(2, on("b")), locked(3, on("d")), locked(4, NO_LOCKS)], [idle("a")])
    # Recipe 3 still holds x.
    story.progress(2, "b", "installing", "running")
    ends = "recipe/2", recipe_events.RecipeCompleted()
    story.commit(ends, aborted(4, "its host ended"), pending("b"))
    story.batch([idle("b")])
    comes(story, 5, "e", X, None)
    story.complete(3, "d")
    story.batch([locked(5, X)], [idle("d")])
    return story


def unknown_names_are_all() -> Story:
    unknown = {"network": "UnknownShared", "pool": {"Exclusive": ["$pools"]}}
    profile = {"network": "UnknownShared", "pool": "UnknownExclusive"}
    story = lab()
    story.commit(into_pool("big", "b"))
    story.job(2, {2: only("b")}, locks=unknown, profile=profile)
    story.batch(place(2, "b", locks={"network": "AllShared", "pool": {"Exclusive": ["big"]}}))
    comes(story, 3, "d", Y, None)
    comes(story, 4, "e", Y_SHARED, Y_SHARED)
    return story


def system_breaks_and_siblings_are_scheduled_again() -> Story:
    story = set_of_two_waits()
    why = "b is Broken: fan"
    lost = [assigned(2, reason=why), assigned(4, reason=why), idle("b")]
    again = [scheduled(3, "d"), ("system/d", system_events.SystemScheduled(recipe_id=3))]
    story.commit(condition("b", "Broken"), *lost, *again)
    comes(story, 5, "e", Y, Y)
    story.commit(condition("b", "Automated"), pending("b"))
    granted = [*grant(2, "b"), scheduled(4, "b")]
    story.batch([*granted, *start(2, "b", None), *start(3, "d", None), waiting(4, "b", None)])
    story.complete(1, "a")
    story.batch([locked(2, on("b")), locked(3, on("d")), locked(4, NO_LOCKS)], [idle("a")])
    return story


def only_system_breaks() -> Story:
    story = two_wait()
    story.commit(condition("b", "Broken"), queued(2, "b is Broken: fan"), idle("b"))
    story.complete(1, "a")
    story.batch([locked(3, X)], [idle("a")])
    return story


def nothing_is_taken_away() -> Story:
    """Drain a system, lend it, disable its lab: the set still gets its locks."""
    story = two_wait()
    story.commit(("system/b", system_events.SystemDrained(reason="fan")))
    story.commit(lent("b", "eve"))
    story.commit(("lab-controller/lab-1", LabControllerDisabled()))
    story.complete(1, "a")
    story.batch([locked(2, X)], [idle("a")])
    return story


def whole_set_is_cancelled() -> Story:
    story = set_of_two_waits()
    story.commit(cancelled(2), cancelled(3), cancelled(4), pending("b"), pending("d"))
    story.batch([idle("b")], [idle("d")])
    return story


def narrowing_lets_a_set_start() -> Story:
    story = holder(XY)
    comes(story, 2, "b", X, None)
    story.progress(1, "a", "installing")
    story.commit(narrowed(1, Y))
    story.batch([locked(2, X)])
    return story


def reserved_recipe_keeps_its_locks() -> Story:
    story = two_wait()
    story.progress(1, "a", "installing", "running")
    story.commit(("recipe/1", recipe_events.RecipeReserved(system="a", seconds=60)))
    comes(story, 4, "e", Y, Y)
    return story


def whole_lab_excludes_its_lab() -> Story:
    story = holder(WHOLE_LAB)
    comes(story, 2, "b", NO_LOCKS, None)
    comes(story, 3, "f", NO_LOCKS, NO_LOCKS)
    comes(story, 4, "g", WHOLE_LAB, None)
    story.complete(1, "a")
    story.batch([locked(2, NO_LOCKS)], [idle("a")])
    story.complete(3, "f")
    story.batch([locked(4, WHOLE_LAB)], [idle("f")])
    return story


def set_is_overtaken_until_it_is_owed() -> Story:
    """Recipes 3 and 4 overtake 2, which waits for the locks that 1 holds; then 5 has to wait behind it."""
    story = holder(X, locks={"most_overtaken": 2})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y_SHARED, Y_SHARED)
    comes(story, 4, "e", Y_SHARED, Y_SHARED)
    # This one does not conflict with recipe 2.
    comes(story, 6, "g", {"network": {"Shared": ["z"]}}, {"network": {"Shared": ["z"]}})
    comes(story, 5, "f", Y, None)
    for number, fqdn in ((3, "d"), (4, "e"), (1, "a")):
        story.complete(number, fqdn)
        freed = [locked(2, XY)] if number == 1 else None
        story.batch(*filter(None, (freed, [idle(fqdn)])))
    return story


def more_urgent_set_passes_an_owed_one() -> Story:
    story = holder(X, locks={"most_overtaken": 0})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y, Y, priority="High")
    comes(story, 4, "e", Y, None)
    return story


def bound_is_raised() -> Story:
    story = holder(X, locks={"most_overtaken": 0})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y, None)
    story.commit(configured(locks={"most_overtaken": 1}))
    story.batch([locked(3, Y)])
    comes(story, 4, "e", {"network": {"Shared": ["z"]}}, {"network": {"Shared": ["z"]}})
    return story


def changed_set_loses_its_system() -> Story:
    story = two_wait()
    host_requires = new(2, 2, only("a"), "Normal", distro_tree_id=1).host_requires
    changed = recipe_events.RecipeChanged(host_requires, "", 1, None, (), X)
    of_set = RecipeSetChanged((), (), X, {})
    lost = queued(2, "b does not fit the changed recipe"), pending("b")
    story.commit(("recipe/2", changed), ("recipe-set/2", of_set), *lost)
    story.batch([idle("b")])
    return story


def count_begins_anew() -> Story:
    """Recipe 2 is owed its locks until its system breaks; then it waits again, and 4 may overtake it."""
    story = holder(X, locks={"most_overtaken": 1})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y_SHARED, Y_SHARED)
    story.commit(condition("b", "Broken"), queued(2, "b is Broken: fan"), idle("b"))
    story.commit(condition("b", "Automated"), pending("b"))
    story.batch(place(2, "b", locks=None))
    comes(story, 4, "e", Y_SHARED, Y_SHARED)
    return story


def set_behind_a_new_one_is_not_overtaken() -> Story:
    """Recipe 3 is more urgent than recipe 2, so only recipe 4 overtakes this."""
    story = holder(X, locks={"most_overtaken": 1})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y_SHARED, Y_SHARED, priority="High")
    comes(story, 4, "e", Y_SHARED, Y_SHARED)
    return story


def set_of_two_overtakes_once() -> Story:
    story = holder(X, locks={"most_overtaken": 2})
    comes(story, 2, "b", XY, None)
    story.job(3, {3: only("d"), 4: only("e")}, locks=Y_SHARED)
    story.batch([*grant(3, "d"), *grant(4, "e"), *start(3, "d", Y_SHARED), *start(4, "e", Y_SHARED)])
    comes(story, 5, "f", Y_SHARED, Y_SHARED)
    return story


def two_wait_for_one_that_could_start() -> Story:
    """Recipe 1 ends after the batch. Recipe 2 claims x, so recipe 3 has no claim, and recipe 4 may take y."""
    story = holder(XY)
    comes(story, 2, "b", X, None)
    comes(story, 3, "d", XY, None)
    story.job(4, {4: only("e")}, locks=Y)
    after_the_batch(story, place(4, "e", locks=Y), lambda: story.complete(1, "a"))
    story.batch([locked(2, X)], [idle("a")])
    return story


def owed_set_loses_its_system_after_the_batch() -> Story:
    story = holder(X, locks={"most_overtaken": 0})
    comes(story, 2, "b", XY, None)
    comes(story, 3, "d", Y, None)
    story.job(4, {4: only("e")})
    lost = condition("b", "Broken"), queued(2, "b is Broken: fan"), idle("b")
    after_the_batch(story, place(4, "e"), lambda: story.commit(*lost))
    story.batch([locked(3, Y)])
    return story


def locks_are_narrowed_after_the_batch() -> Story:
    story = holder()
    comes(story, 2, "b", X, None)
    story.job(4, {4: only("e")})
    after_the_batch(story, place(4, "e"), lambda: story.commit(narrowed(1, NO_LOCKS)))
    story.batch([locked(2, X)])
    return story


def timer_is_answered_before_the_locks() -> Story:
    story = holder()
    comes(story, 2, "b", X, None)
    story.complete(1, "a")
    silent = [("lab-controller/lab-2", LabControllerSilent())]
    batch = Batch(0, story.end, "locks")
    story.decide(silent, policy=POLICY_VERSION, cause="timer/contact/lab-2", batch=batch)
    story.batch([locked(2, X)], [idle("a")])
    return story


def set_is_ended_before_the_locks() -> Story:
    story = holder()
    comes(story, 2, "b", X, None)
    story.complete(1, "a")
    story.job(3, {3: only("nobody")})
    story.batch([aborted(3)], [locked(2, X)], [idle("a")])
    return story


def locks_are_freed_after_the_batch() -> Story:
    """Recipe 1 ends after the batch was collected. Until the next batch, recipe 4 may not pass recipe 2."""
    story = holder(X)
    comes(story, 2, "b", X, None)
    story.job(4, {4: only("d")}, locks=X)
    after_the_batch(story, place(4, "d", locks=None), lambda: story.complete(1, "a"))
    story.batch([locked(2, X)], [idle("a")])
    return story


SOUND = [
    gets_locks_after_an_end,
    more_urgent_set_comes_first,
    priority_is_changed,
    sets_without_conflict_start,
    names_conflict_in_all_labs,
    set_of_two_starts,
    unknown_names_are_all,
    system_breaks_and_siblings_are_scheduled_again,
    only_system_breaks,
    nothing_is_taken_away,
    whole_set_is_cancelled,
    narrowing_lets_a_set_start,
    reserved_recipe_keeps_its_locks,
    whole_lab_excludes_its_lab,
    set_is_overtaken_until_it_is_owed,
    more_urgent_set_passes_an_owed_one,
    bound_is_raised,
    changed_set_loses_its_system,
    count_begins_anew,
    locks_are_freed_after_the_batch,
    set_behind_a_new_one_is_not_overtaken,
    set_of_two_overtakes_once,
    two_wait_for_one_that_could_start,
    owed_set_loses_its_system_after_the_batch,
    locks_are_narrowed_after_the_batch,
    timer_is_answered_before_the_locks,
    set_is_ended_before_the_locks,
]


@pytest.mark.parametrize("story", SOUND, ids=name_of)
def test_check__sound_story_with_locks__has_nothing_to_say(story: Callable[[], Story]) -> None:
    assert list(map(str, story().violations())) == []
    assert list(map(str, story().at_rest())) == []
