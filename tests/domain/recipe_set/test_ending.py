"""Recipe sets that end, lose a system, or keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from domain.errors import Refused
from domain.recipe.events import RecipeAborted, RecipeCancelled, RecipeCompleted, RecipeReserved
from domain.recipe.lifecycle import FINISHED, PLACED, STARTED, UNFINISHED, UNPLACED
from domain.recipe.results import Results
from domain.recipe.state import Recipe, Task
from domain.recipe_set.ending import HOST_ENDED, abort, abort_set, cancel_set, end_one
from domain.recipe_set.kept_systems import give_back
from domain.recipe_set.members import Members
from domain.recipe_set.messages import ReportCompleted
from domain.recipe_set.reports import report
from domain.system.events import SystemIdle, SystemPending
from tests.domain.recipe.samples import recipe_in, system_in
from tests.domain.recipe_set.samples import guest_of, members_of, set_of

WHY = "not needed"
CANCELLED, ABORTED = RecipeCancelled(reason=WHY), RecipeAborted(reason=WHY)
NOT_STARTED = [state for state in UNFINISHED if state not in STARTED]


def with_guest(members: Members, number: int = 9, state: str | None = None) -> Members:
    """Return the set with a guest of its first host."""
    return replace(members, recipes=(*members.recipes, guest_of(members.recipes[0], number, state)))


@pytest.mark.parametrize("state", UNPLACED)
def test_cancel__recipe_without_a_system__ends_it_alone(state: str) -> None:
    assert cancel_set(set_of(state), WHY) == [("recipe/1", CANCELLED)]


@pytest.mark.parametrize("state", PLACED)
def test_cancel__recipe_on_a_system__gives_the_system_back(state: str) -> None:
    assert cancel_set(set_of(state), WHY) == [("recipe/1", CANCELLED), ("system/a", SystemPending())]


@pytest.mark.parametrize("condition", ["Manual", "Broken"])
def test_cancel__recipe_on_a_system_that_is_not_automated__leaves_it_idle(condition: str) -> None:
    decided = cancel_set(set_of("running", condition=condition), WHY)
    assert decided == [("recipe/1", CANCELLED), ("system/a", SystemIdle())]


@pytest.mark.parametrize("state", FINISHED)
def test_cancel__finished_recipe__changes_nothing(state: str) -> None:
    assert cancel_set(set_of(state), WHY) == []


def test_cancel__started_set_with_a_finished_recipe__ends_the_others_and_their_guests() -> None:
    members = with_guest(set_of("running", "completed", "installing"))
    assert cancel_set(members, WHY) == [
        ("recipe/1", CANCELLED),
        ("recipe/3", CANCELLED),
        ("recipe/9", CANCELLED),
        ("system/a", SystemPending()),
        ("system/c", SystemPending()),
    ]


@pytest.mark.parametrize("state", NOT_STARTED)
def test_abort__before_the_start__ends_the_whole_set(state: str) -> None:
    members = with_guest(set_of(state, "scheduled" if state in ("assigned", "scheduled") else state))
    decided = abort(members, members.recipes[0], WHY)
    assert [row for row in decided if row[0].startswith("recipe/")] == [
        (recipe.subject, ABORTED) for recipe in members.recipes
    ]
    held = [f"system/{host.system}" for host in members.hosts if host.system]
    assert [row for row in decided if row[0].startswith("system/")] == [
        (each, SystemPending()) for each in held
    ]


@pytest.mark.parametrize("state", STARTED)
def test_abort__after_the_start__ends_it_and_its_guests_and_no_sibling(state: str) -> None:
    members = with_guest(set_of(state, "running"))
    assert abort(members, members.recipes[0], WHY) == [
        ("recipe/1", ABORTED),
        ("recipe/9", RecipeAborted(reason=HOST_ENDED)),
        ("system/a", SystemPending()),
    ]


@pytest.mark.parametrize("state", FINISHED)
def test_abort__has_finished__changes_nothing(state: str) -> None:
    members = set_of(state, "running")
    assert abort(members, members.recipes[0], WHY) == []


def test_abort__guest_before_the_start__ends_the_whole_set() -> None:
    members = with_guest(set_of("scheduled", "assigned"))
    decided = abort(members, members.recipe(9), WHY)
    assert [subject for subject, _ in decided] == ["recipe/1", "recipe/2", "recipe/9", "system/a"]


def test_abort__guest_after_the_start__ends_it_alone() -> None:
    members = with_guest(set_of("running"))
    assert abort(members, members.recipe(9), WHY) == [("recipe/9", ABORTED)]


def test_end_one__host_with_a_finished_guest__guest_is_unchanged() -> None:
    members = with_guest(set_of("running"), state="completed")
    decided = end_one(members, members.recipes[0], RecipeCompleted())
    assert decided == [("recipe/1", RecipeCompleted()), ("system/a", SystemPending())]


def test_abort_set__each_for_its_own_reason__all_end() -> None:
    decided = abort_set(set_of("new", "new"), {1: "too small", 2: "no tree"})
    assert decided == [
        ("recipe/1", RecipeAborted(reason="too small")),
        ("recipe/2", RecipeAborted(reason="no tree")),
    ]


ENDED = [("recipe/1", RecipeCompleted()), ("system/a", SystemPending())]

# Results of the one task, its state, and the conditions that hold then.
CASES = [
    # Nothing was reported.
    ((), "completed", {"always"}),
    (("Pass",), "completed", {"always"}),
    (("Skip",), "completed", {"always"}),
    (("None",), "completed", {"always"}),
    (("Warn",), "completed", {"always", "onwarn"}),
    # The worst result counts, in any position.
    (("Pass", "Warn", "Pass"), "completed", {"always", "onwarn"}),
    (("Fail",), "completed", {"always", "onwarn", "onfail"}),
    (("Panic", "Pass"), "completed", {"always", "onwarn", "onfail"}),
    # An aborted task is worse than any result.
    (("Pass",), "aborted", {"always", "onwarn", "onfail", "onabort"}),
    ((), "aborted", {"always", "onwarn", "onfail", "onabort"}),
]
WHEN = ("always", "onwarn", "onfail", "onabort")


def done(when: str | None, results: Sequence[str] = (), state: str = "completed") -> Recipe:
    task = Task(1, "/check", state)
    kept = None if when is None else {"duration_seconds": 7_200, "when": when}
    reported = Results(len(results), kinds=tuple(dict.fromkeys(results)))
    return replace(recipe_in("running"), tasks=(task,), reservesys=kept, results=reported)


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize(("results", "state", "holds"), CASES)
def test_completed__any_results_and_condition__keeps_system_if_condition_holds(
    results: Sequence[str], state: str, holds: set[str], when: str
) -> None:
    recipe = done(when, results, state)
    decided = report(members_of(recipe, system_in("running")), recipe, ReportCompleted())
    reserved = [("recipe/1", RecipeReserved(system="a", seconds=7_200))]
    assert decided == (reserved if when in holds else ENDED)


def test_completed__without_reservesys__ends_for_any_result() -> None:
    recipe = done(None, ["Panic"])
    assert report(members_of(recipe, system_in("running")), recipe, ReportCompleted()) == ENDED


def test_give_back__reserved_recipe__completes_and_frees_its_system() -> None:
    members = set_of("reserved")
    assert give_back(members, members.recipes[0]) == ENDED


def test_give_back__with_a_reason__is_in_the_event() -> None:
    members = set_of("reserved")
    assert give_back(members, members.recipes[0], "seen it")[0] == (
        "recipe/1",
        RecipeCompleted(reason="seen it"),
    )


@pytest.mark.parametrize(("reason", "why"), [(None, "no boot"), ("seen it", "no boot; returned: seen it")])
def test_give_back__recipe_was_given_up__aborted_with_both_reasons(reason: str | None, why: str) -> None:
    recipe = replace(recipe_in("reserved"), abort_reason="no boot")
    decided = give_back(members_of(recipe, system_in("running")), recipe, reason)
    assert decided[0] == ("recipe/1", RecipeAborted(reason=why))


def test_give_back__system_drained_meanwhile__becomes_idle() -> None:
    recipe, system = recipe_in("reserved"), replace(system_in("running"), draining=True)
    assert give_back(members_of(recipe, system), recipe)[-1] == ("system/a", SystemIdle())


@pytest.mark.parametrize("state", FINISHED)
def test_give_back__has_ended__changes_nothing(state: str) -> None:
    members = set_of(state)
    assert give_back(members, members.recipes[0]) == []


@pytest.mark.parametrize("state", [state for state in UNFINISHED if state != "reserved"])
def test_give_back__any_other_state__is_refused(state: str) -> None:
    members = set_of(state)
    with pytest.raises(Refused, match=f"recipe 1 is {state}, not reserved"):
        give_back(members, members.recipes[0])
