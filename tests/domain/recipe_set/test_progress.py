"""Sequences of reports, each folded before the next: repetitions, and recipe and system in step."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Refused
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
)
from domain.recipe_set.reports import report
from domain.system.state import System
from domain.system.state import evolve as evolve_system
from tests.domain.recipe.samples import moment, recipe_in, system_in
from tests.domain.recipe_set.samples import members_of

Pair = tuple[Recipe, System]

WELL = (
    ReportInstalling(),
    ReportTaskRunning(1),
    ReportTaskResult(1, "Pass", "all good", 1.0, ("http://log/1",)),
    ReportTaskEnded(1, "completed"),
    ReportTaskRunning(2),
    ReportTaskResult(2, "Warn"),
    ReportTaskEnded(2, "completed"),
    ReportCompleted(),
)
ANY = (*WELL, ReportAborted("no power"), ReportTaskEnded(1, "aborted"), ReportTaskEnded(2, "aborted"))


def after(pair: Pair, message: Report) -> Pair:
    recipe, system = pair
    for subject, event in report(members_of(recipe, system), recipe, message):
        if subject == recipe.subject:
            recipe = evolve_recipe(recipe, 1, event, moment(recipe.version + 1))
        else:
            system = evolve_system(system, "a", event, moment(system.version + 1))
    return recipe, system


def after_all(messages: Iterable[Report]) -> Pair:
    pair = recipe_in("waiting", "new", "new"), system_in("waiting")
    for message in messages:
        pair = after(pair, message)
    return pair


def test_reports__all_goes_well__recipe_completed_and_system_pending() -> None:
    recipe, system = after_all(WELL)
    assert (recipe.state, system.usage, system.recipe_id) == ("completed", "pending", None)
    assert [task.state for task in recipe.tasks] == ["completed", "completed"]
    assert (recipe.results.kinds, recipe.results.log_count) == (("Pass", "Warn"), 1)


def test_reports__installing_is_late__all_others_are_accepted() -> None:
    first, *others = WELL
    assert after_all([*others[:3], first, *others[3:]])[0].state == "completed"


@pytest.mark.parametrize("number", range(len(WELL)))
def test_report__repeated_at_once__changes_nothing(number: int) -> None:
    pair = after_all(WELL[: number + 1])
    assert after(pair, WELL[number]) == pair


@pytest.mark.parametrize("message", WELL, ids=lambda message: type(message).__name__)
def test_report__repeated_after_the_end__changes_nothing(message: Report) -> None:
    pair = after_all(WELL)
    assert after(pair, message) == pair


def test_task_result__same_result_with_other_message__counts_twice() -> None:
    recipe, _ = after_all([*WELL[:3], ReportTaskResult(1, "Pass", "still good")])
    assert recipe.results.result_count == 2


def test_task_result__same_result_under_another_path__counts_twice() -> None:
    one, same, other = (ReportTaskResult(1, "Pass", path=path) for path in ("/a", "/a", "/b"))
    recipe, _ = after_all([*WELL[:2], one, same, other])
    assert recipe.results.result_count == 2


STEP = {
    "waiting": "waiting",
    "installing": "installing",
    "running": "running",
    "completed": "pending",
    "aborted": "pending",
}


@given(st.lists(st.sampled_from(ANY), max_size=20))
def test_reports__any_order__recipe_and_system_stay_in_step(messages: list[Report]) -> None:
    pair = recipe_in("waiting", "new", "new"), system_in("waiting")
    for message in messages:
        before = pair
        try:
            pair = after(pair, message)
        except Refused:
            continue
        recipe, system = pair
        assert system.usage == STEP[recipe.state]
        assert (system.recipe_id == 1) == (not recipe.finished)
        if before[0].finished:
            assert pair == before
