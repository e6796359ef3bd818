"""The JSON of answers: what all of them have in common, and the shapes around jobs and recipes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from api.rest.contract.values import Id, PriorityName, RecipeState, Result, TaskState, Time


class Shape(BaseModel):
    """A part of an answer. It has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Answer(Shape):
    """`position`: what an answer reflects, or the last event of what was written."""

    position: int


class ReadAnswer(Answer):
    """`as_of` is the moment it speaks of, where one of the past was asked for."""

    as_of: Time | None = None


class ListAnswer(ReadAnswer):
    """`next`: where the list goes on."""

    next: str | None


class FaultShape(Shape):
    where: str
    message: str


class Problem(BaseModel):
    """RFC 9457. `errors` has every fault of the input."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FaultShape] = []


class Submitted(Answer):
    job_id: Id
    recipe_set_ids: list[Id]
    recipe_ids: list[Id]


class JobCancelled(Answer):
    job_id: Id
    cancelled: bool


class JobChanged(Answer):
    job_id: Id
    changed: bool


class ListedJob(Shape):
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


class Seconds(Shape):
    """Of one recipe, or of all of a job: in each state, and of states together."""

    by_state: dict[str, float]
    queueing: float
    provisioning: float
    execution: float
    reserved: float


class TaskSummary(Shape):
    task_id: Id
    name: str
    state: TaskState
    result: Result


class RecipeSummary(Shape):
    recipe_id: Id
    host_recipe_id: Id | None
    state: RecipeState
    system: str | None
    lab_controller: str | None
    whiteboard: str
    role: str | None
    reason: str | None
    since: Time
    result: Result
    tasks: list[TaskSummary]


class SetSummary(Shape):
    recipe_set_id: Id
    priority: PriorityName
    state: RecipeState
    result: Result
    recipes: list[RecipeSummary]


class Job(ReadAnswer):
    """`document` is the job as it was submitted, in its JSON form."""

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


class RecipeInterval(Shape):
    state: RecipeState
    system: str | None
    lab_controller: str | None
    reason: str | None
    since: Time
    until: Time | None
    since_position: int
    until_position: int | None


class TaskResult(Shape):
    task_id: Id
    result: Result
    message: str
    score: float | None
    log_urls: list[str]
    at: Time
    position: int


class RecipeTree(Shape):
    """A distro tree as it was then."""

    id: Id
    name: str
    family: str
    version: str
    arch: str
    variant: str
    tags: list[str]
    urls: dict[str, list[str]]
    added_at: Time


class Recipe(ReadAnswer, RecipeSummary):
    """`deadline` is when its watchdog expires; `guests` are the ids of its guest recipes."""

    job_id: Id
    recipe_set_id: Id
    priority: PriorityName
    owner: str
    group: str | None
    guests: list[Id]
    guestname: str | None
    guestargs: str | None
    reservesys: dict[str, Any] | None
    distro: dict[str, Any] | None
    deadline: Time | None
    seconds: Seconds
    distro_tree: RecipeTree | None
    history: list[RecipeInterval]
    results: list[TaskResult]


class Reported(Answer):
    recipe_id: Id


class RecipeReturned(Answer):
    recipe_id: Id
    returned: bool


class QueuedRecipe(Shape):
    """`effective_priority` is for one system, `weight` for resource locks: null without either."""

    recipe_id: Id
    recipe_set_id: Id
    job_id: Id
    state: RecipeState
    priority: PriorityName
    effective_priority: PriorityName | None
    weight: float | None
    since: Time
    since_position: int
    owner: str
    group: str | None
    lab_controller: str | None
    whiteboard: str


class Queue(ListAnswer):
    recipes: list[QueuedRecipe]
