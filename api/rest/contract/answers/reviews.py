"""Answers about reviews of recipe sets and waivers of failures."""

from __future__ import annotations

from typing import Literal

from api.rest.contract.answers.common import Answer, AnswerPart
from api.rest.contract.values import Id, RecipeState, Result, ReviewName, Time


class SetReview(AnswerPart):
    """The review of an ended recipe set: who made it, when and why."""

    review: ReviewName
    by: str
    at: Time
    reason: str


class FailureWaiver(AnswerPart):
    """A waiver: who has accepted the failure `of` a task, or all failures of a recipe set, when and why."""

    of: Literal["task", "recipe-set"]
    by: str
    at: Time
    reason: str


class ReviewedSet(AnswerPart):
    """`review` is null while the set needs one."""

    recipe_set_id: Id
    state: RecipeState
    result: Result
    review: SetReview | None
    waiver: FailureWaiver | None


class SetReviewed(Answer):
    """The answer to a review or a waiver of a set."""

    recipe_set_id: Id
    changed: bool


class TaskWaived(Answer):
    recipe_id: Id
    task_id: Id
    changed: bool
