"""Recipes: states, results and watchdogs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.events import Event
from domain.recipe import events as recipe_events
from domain.recipe.events import TaskResult
from domain.recipe.results import NO_RESULTS, Results
from domain.recipe.state import Recipe, evolve
from tests.domain.recipe.samples import moment, recipe_in, recipe_new


def after(recipe: Recipe, *events: Event) -> Recipe:
    for event in events:
        recipe = evolve(recipe, recipe.recipe_id, event, moment(recipe.version + 1, 99))
    return recipe


def test_new__first_event__gives_the_place_in_the_order_of_submission() -> None:
    recipe = evolve(None, 12, recipe_new(12), moment(position=40))
    assert (recipe.subject, recipe.state, recipe.submission) == ("recipe/12", "new", 40)
    assert [(task.task_id, task.state) for task in recipe.tasks] == [(12, "new")]


def test_new__equal_texts_of_two_recipes__are_one_object() -> None:
    def text(word: str) -> str:
        return "".join([*word])

    def texts(number: int) -> list[str | None]:
        task = {"task_id": number, "name": text("/check"), "role": None, "params": {}}
        fields = {"owner": text("ada"), "group": text("qe"), "host_requires": text("{}"), "tasks": (task,)}
        recipe = evolve(None, number, recipe_new(number, **fields), moment())
        return [recipe.owner, recipe.group, recipe.host_requires, recipe.tasks[0].name]

    assert all(one is other for one, other in zip(texts(1), texts(2), strict=True))


def test_any_event__of_an_existing_recipe__counts_up_and_keeps_the_submission() -> None:
    recipe = after(recipe_in("new", "new"), recipe_events.RecipeQueued(reason="no idle system"))
    assert (recipe.version, recipe.submission) == (2, 5)


def test_scheduled__queued_recipe__has_system_and_lab() -> None:
    recipe = after(recipe_in("queued"), recipe_events.RecipeScheduled(system="b", lab_controller="lab-2"))
    assert (recipe.state, recipe.system, recipe.lab_controller) == ("scheduled", "b", "lab-2")


def test_queued__recipe_had_a_system__loses_it() -> None:
    recipe = after(recipe_in("waiting"), recipe_events.RecipeQueued(reason="its system broke"))
    assert (recipe.state, recipe.system, recipe.lab_controller) == ("queued", None, None)


ENDS = [
    # The end of a recipe ends its open tasks; finished tasks stay unchanged.
    (recipe_events.RecipeAborted(reason="no power"), ["aborted", "aborted", "completed", "aborted"]),
    (recipe_events.RecipeCancelled(reason="not needed"), ["cancelled", "cancelled", "completed", "aborted"]),
    # A recipe completes after its tasks, so no task is open.
    (recipe_events.RecipeCompleted(), ["new", "running", "completed", "aborted"]),
]


@pytest.mark.parametrize(("event", "tasks"), ENDS, ids=lambda value: getattr(value, "TOPIC", ""))
def test_end__tasks_in_every_state__ends_open_ones_and_keeps_the_system(
    event: Event, tasks: list[str]
) -> None:
    recipe = after(recipe_in("running", "new", "running", "completed", "aborted"), event)
    assert recipe.finished
    assert [task.state for task in recipe.tasks] == tasks
    # A late report must still find where the recipe ran.
    assert recipe.system == "a"


TASKS = [
    (recipe_events.TaskStarted(task_id=2), "running"),
    (recipe_events.TaskCompleted(task_id=2), "completed"),
    (recipe_events.TaskAborted(task_id=2), "aborted"),
]


@pytest.mark.parametrize(("event", "state"), TASKS, ids=lambda value: getattr(value, "TOPIC", ""))
def test_task_event__one_task__changes_only_that_task(event: Event, state: str) -> None:
    recipe = after(recipe_in("running", "new", "new"), event)
    assert [task.state for task in recipe.tasks] == ["new", state]
    assert recipe.state == "running"


def test_evolve__events_before_the_first__is_a_fault_of_the_log() -> None:
    with pytest.raises(AssertionError, match="before it was new"):
        evolve(None, 1, recipe_events.RecipeCompleted(), moment())


LOG = {"name": "console.log", "url": "http://lab/console.log", "size_bytes": 12, "sha256": "ab" * 32}
PLAIN = TaskResult(1, "Pass", "fine", 1.0, ["http://lab/1"], "/memory", [LOG])

OTHERS = [
    {"task_id": 2},
    {"result": "Warn"},
    {"message": ""},
    {"score": None},
    {"score": 0.0},
    {"path": ""},
    {"path": "/memory/2"},
    {"log_urls": []},
    {"logs": []},
    *({"logs": [{**LOG, name: None}]} for name in ("size_bytes", "sha256")),
    *({"logs": [{**LOG, name: "x"}]} for name in ("name", "url")),
]


@pytest.mark.parametrize("fields", OTHERS, ids=str)
def test_has__another_task_path_or_content__is_no_repetition(fields: dict[str, object]) -> None:
    assert not NO_RESULTS.after(PLAIN).has(replace(PLAIN, **fields))  # type: ignore[arg-type]


def test_has__equal_result_as_the_log_stores_it__is_a_repetition() -> None:
    stored = replace(PLAIN, score=1, log_urls=("http://lab/1",), logs=(dict(sorted(LOG.items())),))
    assert NO_RESULTS.after(PLAIN).has(stored)


MANY = [TaskResult(1, *fields, None, [], "") for fields in product(("Pass", "Fail"), "abcdefgh")]


@given(st.lists(st.sampled_from(MANY)))
def test_results__any_reports__contain_exactly_those(reports: list[TaskResult]) -> None:
    results = NO_RESULTS
    for report in reports:
        results = results.after(report)
    assert [one for one in MANY if results.has(one)] == [one for one in MANY if one in reports]
    assert results.result_count == len(reports)
    assert set(results.kinds) == {report.result for report in reports}


def copied(before: Results, after: Results) -> int:
    """Return the number of digests in sets that the two states do not share."""
    return sum(len(level) for level in after.digests if all(level is not one for one in before.digests))


@pytest.mark.parametrize("count", [1_000, 8_000])
def test_results__thousands__few_copies_each_and_tasks_unchanged(count: int) -> None:
    recipe, work = recipe_in("running", *["running"] * 50), 0
    tasks = recipe.tasks
    for number in range(count):
        before = recipe.results
        recipe = evolve(recipe, 1, replace(PLAIN, message=str(number)), moment())
        work += copied(before, recipe.results)
    assert recipe.tasks is tasks, "no task is searched or copied for a result"
    assert work <= count * count.bit_length(), "each result is copied once for each doubling"
    assert len(recipe.results.digests) <= count.bit_length(), "a search looks into as many sets"
