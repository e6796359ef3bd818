"""Recipes that keep their system after the last task: conditions, time, and return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from domain.errors import Refused
from domain.recipe.events import RecipeCompleted, RecipeReserved
from domain.recipe.lifecycle import FINISHED, UNFINISHED
from domain.recipe.results import Results
from domain.recipe.state import Recipe, Task
from domain.recipe_set.kept_systems import give_back
from domain.recipe_set.messages import ReportCompleted
from domain.recipe_set.reports import report
from domain.system.events import SystemIdle, SystemPending
from tests.domain.recipe.samples import recipe_in, system_in
from tests.domain.recipe_set.samples import members_of, set_of

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
