"""Attempts: a recipe that goes back after its start begins the next one, and old reports count no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import Refused
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import FINISHED
from domain.recipe.state import evolve
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportInstalling,
    ReportTaskRunning,
    ReportWatchdog,
)
from domain.recipe_set.reports import report
from tests.domain.recipe.samples import moment
from tests.domain.recipe_set.samples import members_of, recipe_at, set_of, system_of

REPORTS: list[Report] = [
    ReportInstalling(),
    ReportTaskRunning(1),
    ReportAborted("no power"),
    ReportWatchdog(600),
]


def test_attempt__started_recipe_is_queued_again__begins_the_next_with_new_tasks() -> None:
    (recipe,) = set_of("running").recipes
    ended = evolve(recipe, 1, recipe_events.TaskCompleted(1), moment(10))
    with_result = evolve(ended, 1, recipe_events.TaskResult(1, "Pass", "", None, (), "", ()), moment(11))
    again = evolve(with_result, 1, recipe_events.RecipeQueued("preempted"), moment(12))
    assert (again.attempt, [task.state for task in again.tasks]) == (2, ["new"])
    assert (again.held, again.deadlines, again.results.result_count) == (None, (None, None), 0)


def test_attempt__recipe_that_has_not_started_is_queued_again__stays() -> None:
    for state in ("scheduled", "waiting"):
        recipe = replace(recipe_at(1, state, "a"), held=None)
        assert evolve(recipe, 1, recipe_events.RecipeQueued("withdrawn"), moment(10)).attempt == 1


def tell(state: str, at_attempt: int, message: Report, named: int | None) -> list[str]:
    """Return the topics of the events that follow from a report on a recipe at an attempt."""
    recipe = replace(recipe_at(1, state, "a"), attempt=at_attempt)
    members = members_of(recipe, system_of(recipe))
    return [event.TOPIC for _, event in report(members, recipe, message, attempt=named)]


@pytest.mark.parametrize("message", REPORTS, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("state", ["waiting", "installing", "running", *FINISHED])
def test_report__names_another_attempt__is_refused_with_the_present_one(state: str, message: Report) -> None:
    for at_attempt, named in [(2, 1), (1, 2), (3, 1)]:
        with pytest.raises(Refused, match=f"recipe 1 is at attempt {at_attempt}, not {named}"):
            tell(state, at_attempt, message, named)


@pytest.mark.parametrize("message", REPORTS, ids=lambda message: type(message).__name__)
def test_report__names_the_present_attempt__counts_as_without_one(message: Report) -> None:
    for state in ("waiting", "installing"):
        assert tell(state, 2, message, 2) == tell(state, 1, message, None) == tell(state, 1, message, 1)


@pytest.mark.parametrize("message", REPORTS, ids=lambda message: type(message).__name__)
def test_report__names_no_attempt_after_the_first__counts_once_this_one_is_installing(
    message: Report,
) -> None:
    with pytest.raises(Refused, match="recipe 1 is at attempt 2, and the report must name its attempt"):
        tell("waiting", 2, message, None)
    if isinstance(message, ReportInstalling):
        with pytest.raises(Refused, match="must name its attempt"):
            tell("installing", 2, message, None)
    else:
        assert tell("installing", 2, message, None) == tell("installing", 1, message, None)
