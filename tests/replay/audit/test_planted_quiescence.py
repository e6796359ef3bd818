"""Planted faults that show when nothing is left to decide."""

from __future__ import annotations

from tests.replay.audit.moves import assigned, condition, grant, idle, only, pending, place, queued
from tests.replay.audit.planted import opening
from tests.replay.audit.story import Story


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


def test_at_rest__waits_for_what_runs__may_wait() -> None:
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
