"""The audit finds broken conservation laws: sums over recipes, systems and limits that do not agree."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.scheduling.world.conservation import LAWS
from domain.system import events as system_events
from replay.audit.audit import Audit
from replay.audit.conservation import Usage, laws
from replay.audit.invariant import Violation
from replay.audit.log_check import LogCheck
from replay.audit.queue_sums import QueueInPartition
from replay.audit.record import Commit, commits, from_recorded
from replay.audit.rooms import PLACED, Limit
from replay.audit.state import State
from tests.replay.audit.claim_events import busy_lab, claimed
from tests.replay.audit.moves import (
    assigned,
    cancelled,
    configured,
    idle,
    new,
    only,
    pending,
    place,
    scheduled,
    step,
)
from tests.replay.audit.planted import assert_caught, opening
from tests.replay.audit.story import Story

Plant = Callable[[Story], None]


def used_by_no_recipe(story: Story) -> None:
    story.commit(("system/b", system_events.SystemScheduled(recipe_id=77)))


def held_but_not_used(story: Story) -> None:
    story.commit(cancelled(2), scheduled(1, "b"))


def held_twice(story: Story) -> None:
    story.commit(scheduled(2, "a"))


def recipe_lets_go_alone(story: Story) -> None:
    story.commit(cancelled(1))


def system_lets_go_alone(story: Story) -> None:
    story.commit(pending("a"))


@pytest.mark.parametrize(
    ("plant", "subject"),
    [
        (used_by_no_recipe, "system/b"),
        (held_but_not_used, "system/b"),
        (held_twice, "system/a"),
        (recipe_lets_go_alone, "system/a"),
        (system_lets_go_alone, "system/a"),
    ],
)
def test_usage__planted__is_found(plant: Plant, subject: str) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "usage", subject, beside=None)


def in_two_queues() -> Story:
    """Return a story: recipes 1 and 2 of root.k wait on a and b, recipe 3 of root.k.net on c; d is idle."""
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.idle("a", "b", "c", "d")
    queues = {"a": "root.k", "b": "root.k", "c": "root.k.net"}
    for number, (fqdn, queue) in enumerate(queues.items(), start=1):
        story.job(number, {number: only(fqdn)}, submitted={"owner": "ada", "queue": queue})
        story.decide(place(number, fqdn))
    story.queue(4, {4: only("a")}, submitted={"owner": "ada", "queue": "root.k.net"})
    return story


def said(used: int, held: int, below: int) -> str:
    systems = f"{used} systems are used, but its recipes hold {held}, and the queues below use {below}"
    return f"in partition 1, {systems}"


def queues_in(violations: list[Violation]) -> dict[str, str]:
    """Return what is said of each queue."""
    about_queues = [each for each in violations if each.subjects[0].startswith("queue/")]
    assert all(each.invariant == "usage" and each.positions for each in about_queues)
    return {each.subjects[0].removeprefix("queue/"): each.what for each in about_queues}


def test_usage__sound_queues__no_queue_is_named() -> None:
    story = in_two_queues()
    story.complete(3, "c")
    story.decide([idle("c")])
    story.progress(1, "a", "installing")
    assert story.violations() == []


def test_usage__system_in_use_by_a_recipe_of_another_queue__is_found_once_in_each() -> None:
    story = in_two_queues()
    story.commit(("system/a", system_events.SystemScheduled(recipe_id=4)))
    # Later commits have the same differences.
    story.progress(2, "b", "installing", "running")
    assert queues_in(story.violations()) == {
        "root.k": said(3, 2, 2),
        "root.k.net": said(2, 1, 0),
    }


@pytest.mark.parametrize("path", ["root.k.net", "root.k", "root"])
def test_usage__one_system_too_many_in_a_queue__is_found(path: str) -> None:
    """Break the sums of the audit itself, because no event has them; the next commit concerns the queue."""
    story = in_two_queues()
    story.progress(3, "c", "installing")
    *before, last = commits(from_recorded(story.log))
    usage = Usage()
    check = LogCheck((usage,))
    assert [found for commit in before for found in check.check_commit(commit)] == []
    usage.queues.used[QueueInPartition(1, path)] += 1
    assert list(queues_in(list(check.check_commit(last)))) == [path]


def runs_for_nobody(story: Story) -> None:
    story.commit(("system/b", system_events.SystemRunning(recipe_id=None)))


def reserved_while_used(story: Story) -> None:
    story.commit(("system/a", system_events.SystemReservationBegun("ada", None, None)))


@pytest.mark.parametrize(
    ("plant", "subject", "counts"),
    [
        (runs_for_nobody, "system/b", "counts as nothing"),
        (reserved_while_used, "system/a", "counts as used and reserved"),
    ],
)
def test_systems__planted__is_found(plant: Plant, subject: str, counts: str) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "systems", subject, beside=None)
    (found,) = (one for one in story.violations() if one.invariant == "systems")
    assert counts in found.what


def set_does_not_name_it(story: Story) -> None:
    story.commit(("recipe/9", new(1, 9, only("a"), "Normal", distro_tree_id=1)))


def holds_an_unknown_system(story: Story) -> None:
    story.commit(scheduled(2, "nowhere"))


@pytest.mark.parametrize(
    ("plant", "subject"), [(set_does_not_name_it, "recipe/9"), (holds_an_unknown_system, "recipe/2")]
)
def test_orphans__planted__is_found(plant: Plant, subject: str) -> None:
    story = opening()
    plant(story)
    assert_caught(story, "orphans", subject, beside=None)


def limited() -> Story:
    """Return a story: under a limit of 5 placed recipes, recipe 1 waits on a."""
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.commit(configured(limits={"placed_recipes": 5}))
    story.idle("a")
    story.job(1, {1: only("a")})
    story.decide(place(1, "a"))
    return story


def charged_with_nothing(state: State) -> None:
    state.rooms.charge(1, 1, {})


def charged_for_two(state: State) -> None:
    state.rooms.charge(1, 1, {Limit(PLACED, "", 5): 2})


def negative(state: State) -> None:
    state.rooms.charge(1, 1, {Limit(PLACED, "", 5): -3})
    state.rooms.charged[1] = state.needs(1)


@pytest.mark.parametrize(
    ("law", "plant"), [("charges", charged_with_nothing), ("charges", charged_for_two), ("signs", negative)]
)
def test_charges__planted_in_the_state__are_found(law: str, plant: Callable[[State], None]) -> None:
    """Break the sums of the audit itself, because no event has them; the next commit concerns the set."""
    story = limited()
    story.progress(1, "a", "installing")
    *before, last = commits(from_recorded(story.log))
    assert checked(before, last, lambda _: None) == []
    assert law in {violation.invariant for violation in checked(before, last, plant)}


def checked(before: list[Commit], last: Commit, plant: Callable[[State], None]) -> list[Violation]:
    audit = Audit()
    for commit in before:
        assert list(audit.check_commit(commit)) == []
    plant(audit.world)
    return list(audit.check_commit(last))


def second_claim_to_a_system(story: Story) -> None:
    story.batch([claimed(3)])


def second_claim_of_a_recipe(story: Story) -> None:
    story.batch([claimed(4, "b")])


def claim_of_a_placed_recipe(story: Story) -> None:
    story.batch(place(4, "b"))


def claim_of_a_finished_recipe(story: Story) -> None:
    story.commit(cancelled(4))


@pytest.mark.parametrize(
    ("plant", "subjects"),
    [
        (second_claim_to_a_system, ["recipe/4", "recipe/3", "system/a"]),
        (second_claim_of_a_recipe, ["recipe/4", "system/a"]),
        (claim_of_a_placed_recipe, ["recipe/4"]),
        (claim_of_a_finished_recipe, ["recipe/4"]),
    ],
)
def test_claims__planted__are_found(plant: Plant, subjects: list[str]) -> None:
    story = busy_lab()
    story.batch([claimed(4)])
    plant(story)
    assert_caught(story, "claims", *subjects, beside=None)


def no_system_names_it(state: State) -> None:
    del state.claims["a"]


def no_recipe_names_it(state: State) -> None:
    state.recipes[4] = state.recipes[4]._replace(claim=None)


@pytest.mark.parametrize("plant", [no_system_names_it, no_recipe_names_it])
def test_claims__planted_in_the_state__are_found(plant: Callable[[State], None]) -> None:
    """Break a claim of the audit itself, because no event does; the next commit concerns both."""
    story = busy_lab()
    story.batch([claimed(4)])
    story.commit(assigned(4), *step(1, "a", "installing"))
    *before, last = commits(from_recorded(story.log))
    assert "claims" not in {violation.invariant for violation in checked(before, last, lambda _: None)}
    assert "claims" in {violation.invariant for violation in checked(before, last, plant)}


def test_laws__names__are_those_of_the_scheduler() -> None:
    assert [law.name for law in laws()] == list(LAWS)


def test_laws__sound_story__hold() -> None:
    story = limited()
    story.complete(1, "a")
    story.decide([idle("a")])
    assert story.violations() == []
