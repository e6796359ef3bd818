"""The review of an ended recipe set by people, and the waivers of its failures.

A review says what people think of the set as a whole: acknowledged, rejected, or none while it needs one. A
waiver accepts a failure: that of one task, or all failures of the set. Neither changes a state or a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from domain.errors import Refused, Unknown
from domain.events import Decided
from domain.recipe.lifecycle import GIVEN_UP
from domain.recipe.state import Recipe, Task
from domain.recipe_set.events import RecipeSetReviewed, RecipeSetWaived, RecipeSetWaiverEnded
from domain.recipe_set.members import Members
from domain.recipe_set.state import NOT_REVIEWED, RecipeSet
from domain.roll_up import state_of

REVIEWS: Final = ("acknowledged", "rejected", NOT_REVIEWED)


@dataclass(frozen=True)
class WaiverChange:
    """A requested waiver, or with `is_waived` False its revocation."""

    is_waived: bool
    reason: str


def review_set(recipe_set: RecipeSet, members: Members, review: str, reason: str) -> Decided:
    """Return the event of a review, none if it is the same. Raises Refused for an unfinished set."""
    _require_ended(recipe_set, members)
    if review == recipe_set.review:
        return []
    return [(recipe_set.subject, RecipeSetReviewed(review=review, reason=reason))]


def waive_set(recipe_set: RecipeSet, members: Members, change: WaiverChange) -> Decided:
    """Return the event that waives all failures of a set, or that ends this waiver; none if it is so already.

    Raises Refused for an unfinished set, and for the waiver of a set without a failure.
    """
    _require_ended(recipe_set, members)
    if change.is_waived and not any(map(_has_failed, members.recipes)):
        raise Refused(f"recipe set {recipe_set.recipe_set_id} has not failed: there is nothing to waive")
    if change.is_waived == recipe_set.waived:
        return []
    return [(recipe_set.subject, _event(None, None, change))]


def waive_task(
    recipe_set: RecipeSet, members: Members, recipe_id: int, task_id: int, change: WaiverChange
) -> Decided:
    """Return the event that waives the failure of a task, or that ends this waiver; none if it is so already.

    The waiver of the set is another one. Raises Unknown for a task that the recipe does not have, and Refused
    for an unfinished set, and for the waiver of a task that has not failed.
    """
    recipe = members.recipe(recipe_id)
    task = recipe.task(task_id)
    if task is None:
        raise Unknown(f"task {task_id} of recipe {recipe_id}")
    _require_ended(recipe_set, members)
    if change.is_waived and not _task_has_failed(recipe, task):
        raise Refused(f"task {task_id} has not failed: there is nothing to waive")
    if change.is_waived == (task_id in recipe_set.waived_tasks):
        return []
    return [(recipe_set.subject, _event(recipe_id, task_id, change))]


def _event(
    recipe_id: int | None, task_id: int | None, change: WaiverChange
) -> RecipeSetWaived | RecipeSetWaiverEnded:
    kind = RecipeSetWaived if change.is_waived else RecipeSetWaiverEnded
    return kind(recipe_id=recipe_id, task_id=task_id, reason=change.reason)


def _require_ended(recipe_set: RecipeSet, members: Members) -> None:
    if members.unfinished:
        state = state_of(recipe.state for recipe in members.recipes)
        name = f"recipe set {recipe_set.recipe_set_id}"
        raise Refused(f"{name} is {state}: only a set that has ended is reviewed or waived")


def _has_failed(recipe: Recipe) -> bool:
    return recipe.state in GIVEN_UP or any(_task_has_failed(recipe, task) for task in recipe.tasks)


def _task_has_failed(recipe: Recipe, task: Task) -> bool:
    """Return whether the result of a task is Warn, Fail or Panic; one that was given up has at least Warn."""
    return task.state in GIVEN_UP or task.task_id in recipe.results.failed_tasks
