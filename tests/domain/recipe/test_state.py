"""A recipe folded from its events."""

from __future__ import annotations

import pytest

from domain.events import Event
from domain.recipe import events as recipe_events
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
