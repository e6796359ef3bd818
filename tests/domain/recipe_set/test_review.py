"""Reviews of ended recipe sets, and waivers of their failures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import Refused, Unknown
from domain.events import Decided, Event, Moment
from domain.priority import Priority
from domain.recipe.events import TaskResult
from domain.recipe.results import NO_RESULTS
from domain.recipe.state import Recipe, Task
from domain.recipe_set.events import RecipeSetReviewed, RecipeSetWaived, RecipeSetWaiverEnded
from domain.recipe_set.members import Members
from domain.recipe_set.review import REVIEWS, WaiverChange, review_set, waive_set, waive_task
from domain.recipe_set.state import RecipeSet, evolve
from tests.domain.recipe.samples import recipe_in

SET = RecipeSet(1, 7, 1, Priority.Normal, 1, (1,))
WHY = "known fault of the firmware"
WAIVE, END = WaiverChange(True, WHY), WaiverChange(False, WHY)


def recipe(state: str = "completed", *results: str, tasks: str = "completed") -> Recipe:
    """Return a recipe with task 1, which has these results, and task 2, which has passed."""
    reported = NO_RESULTS
    for place, result in enumerate((*results, "Pass")):
        task_id = 1 if place < len(results) else 2
        reported = reported.after(TaskResult(task_id, result, "", None, ()))
    both = Task(1, "/one", tasks), Task(2, "/two", "completed")
    return replace(recipe_in(state), recipe_set_id=1, tasks=both, results=reported)


def members(*recipes: Recipe) -> Members:
    return Members(recipes, {})


def after(recipe_set: RecipeSet, decided: Decided) -> RecipeSet:
    for _, event in decided:
        recipe_set = evolve(recipe_set, 1, event, Moment(recipe_set.version + 1, 0, None))
    return recipe_set


def events(decided: Decided) -> list[Event]:
    assert {subject for subject, _ in decided} <= {"recipe-set/1"}
    return [event for _, event in decided]


FAILED = members(recipe("completed", "Fail", "Pass"))
PASSED = members(recipe("completed", "Pass"))


def test_review__each_one_and_again__is_an_event_only_when_it_changes() -> None:
    recipe_set = SET
    for review in REVIEWS:
        found = review_set(recipe_set, FAILED, review, WHY)
        assert events(found) == [RecipeSetReviewed(review, WHY)]
        recipe_set = after(recipe_set, found)
        assert recipe_set.review == review and recipe_set.version > SET.version
        assert review_set(recipe_set, FAILED, review, "another reason") == []
    assert review_set(SET, PASSED, "none", WHY) == []


@pytest.mark.parametrize("state", ["new", "running", "reserved"])
def test_review__of_an_unfinished_set__is_refused(state: str) -> None:
    unfinished = members(recipe("completed", "Fail"), replace(recipe(state), recipe_id=2))
    said = f"recipe set 1 is {state}: only a set that has ended"
    with pytest.raises(Refused, match=said):
        review_set(SET, unfinished, "acknowledged", WHY)
    with pytest.raises(Refused, match=said):
        waive_set(SET, unfinished, WAIVE)
    with pytest.raises(Refused, match=said):
        waive_task(SET, unfinished, 1, 1, WAIVE)


def test_waiver__of_a_failed_task__is_its_own_and_ends() -> None:
    waived = waive_task(SET, FAILED, 1, 1, WAIVE)
    assert events(waived) == [RecipeSetWaived(1, 1, WHY)]
    recipe_set = after(SET, waived)
    assert (recipe_set.waived, recipe_set.waived_tasks) == (False, (1,))
    assert waive_task(recipe_set, FAILED, 1, 1, WAIVE) == []
    # That of the set is another one.
    assert events(waive_set(recipe_set, FAILED, WAIVE)) == [RecipeSetWaived(None, None, WHY)]
    both = after(recipe_set, waive_set(recipe_set, FAILED, WAIVE))
    ended = waive_task(both, FAILED, 1, 1, END)
    assert events(ended) == [RecipeSetWaiverEnded(1, 1, WHY)]
    assert (after(both, ended).waived, after(both, ended).waived_tasks) == (True, ())
    assert waive_task(SET, FAILED, 1, 1, END) == []


def test_waiver__of_a_set__ends_and_is_none_again() -> None:
    recipe_set = after(SET, waive_set(SET, FAILED, WAIVE))
    assert recipe_set.waived and waive_set(recipe_set, FAILED, WAIVE) == []
    ended = waive_set(recipe_set, FAILED, END)
    assert events(ended) == [RecipeSetWaiverEnded(None, None, WHY)]
    assert not after(recipe_set, ended).waived and waive_set(SET, FAILED, END) == []


# Results and state of the task, the state of its recipe, whether the task and whether the set can be waived.
FAILURES = [
    (("Pass",), "completed", "completed", False, False),
    ((), "completed", "completed", False, False),
    (("Skip", "None"), "completed", "completed", False, False),
    (("Warn",), "completed", "completed", True, True),
    (("Pass", "Panic", "Pass"), "completed", "completed", True, True),
    # A task that was given up has at least Warn.
    (("Pass",), "aborted", "completed", True, True),
    ((), "cancelled", "cancelled", True, True),
    # A recipe that was given up after its last task has failed, but no task of it has.
    (("Pass",), "completed", "aborted", False, True),
]


@pytest.mark.parametrize(("results", "task", "state", "of_task", "of_set"), FAILURES)
def test_waiver__of_any_results__needs_a_failure(
    results: tuple[str, ...], task: str, state: str, of_task: bool, of_set: bool
) -> None:
    found = members(recipe(state, *results, tasks=task))
    if of_task:
        assert events(waive_task(SET, found, 1, 1, WAIVE)) == [RecipeSetWaived(1, 1, WHY)]
    else:
        with pytest.raises(Refused, match="task 1 has not failed: there is nothing to waive"):
            waive_task(SET, found, 1, 1, WAIVE)
    if of_set:
        assert events(waive_set(SET, found, WAIVE)) == [RecipeSetWaived(None, None, WHY)]
    else:
        with pytest.raises(Refused, match="recipe set 1 has not failed: there is nothing to waive"):
            waive_set(SET, found, WAIVE)
    with pytest.raises(Refused, match="task 2 has not failed"):
        waive_task(SET, found, 1, 2, WAIVE)


def test_waiver__of_a_task_of_another_recipe__is_unknown() -> None:
    with pytest.raises(Unknown, match="task 3 of recipe 1"):
        waive_task(SET, FAILED, 1, 3, WAIVE)
