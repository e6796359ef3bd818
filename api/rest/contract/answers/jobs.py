"""Answers about jobs and recipe sets."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from api.rest.contract.answers.common import Answer, AnswerPart, FaultShape, ListAnswer, ReadAnswer
from api.rest.contract.answers.recipes import RecipeSummary, Seconds
from api.rest.contract.values import Id, PriorityName, RecipeState, Result, Time


class Submitted(Answer):
    """`warnings`: about parts of the job without effect, and unknown names."""

    job_id: Id
    recipe_set_ids: list[Id]
    recipe_ids: list[Id]
    warnings: list[FaultShape]


class JobCancelled(Answer):
    job_id: Id
    cancelled: bool


class JobChanged(Answer):
    job_id: Id
    changed: bool


class ListedJob(AnswerPart):
    job_id: Id
    state: RecipeState
    result: Result
    whiteboard: str
    owner: str
    group: str | None
    submitted_at: Time
    recipe_set_ids: list[Id]


class JobList(ListAnswer):
    jobs: list[ListedJob]


class SetSummary(AnswerPart):
    recipe_set_id: Id
    priority: PriorityName
    state: RecipeState
    result: Result
    recipes: list[RecipeSummary]


class Job(ReadAnswer):
    """`document` is the job in its normalised JSON form, with defaults filled in."""

    job_id: Id
    state: RecipeState
    result: Result
    whiteboard: str
    owner: str
    submitter: str
    group: str | None
    document: dict[str, Any]
    submitted_at: Time
    recipe_sets: list[SetSummary]
    seconds: Seconds


class Original(ReadAnswer):
    """The submitted job itself, JSON or XML; the position is only in the header."""

    model_config = ConfigDict(extra="allow")

    position: int = 0


class RecipeSet(ReadAnswer):
    recipe_set_id: Id
    job_id: Id
    owner: str
    group: str | None
    priority: PriorityName
    state: RecipeState
    result: Result
    recipes: list[RecipeSummary]


class PriorityChanged(Answer):
    recipe_set_id: Id
    changed: bool


class SetCancelled(Answer):
    recipe_set_id: Id
    cancelled: bool
