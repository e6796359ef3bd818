"""Answers about recipes and the queue."""

from __future__ import annotations

from typing import Any

from api.rest.contract.answers.admission import CurrentReason, HeldBackBy
from api.rest.contract.answers.claims import RecipeClaim
from api.rest.contract.answers.common import Answer, AnswerPart, FaultShape, ListAnswer, ReadAnswer
from api.rest.contract.answers.documents import ListedTree
from api.rest.contract.answers.retention import ResultsDeleted
from api.rest.contract.answers.reviews import FailureWaiver, ReviewedSet
from api.rest.contract.answers.waits import TimeLeft
from api.rest.contract.values import Id, PriorityName, ReasonCode, RecipeState, Result, TaskState, Time


class RecipeChanged(Answer):
    """`warnings`: about parts of the recipe without effect, and unknown names."""

    recipe_id: Id
    changed: bool
    warnings: list[FaultShape]


class Seconds(AnswerPart):
    """Seconds of a recipe, or of all recipes of a job, by state and by groups of states."""

    by_state: dict[str, float]
    queueing: float
    locking: float
    provisioning: float
    execution: float
    reserved: float


class TaskSummary(AnswerPart):
    """`waiver`: the failure of the task is accepted, by a waiver of its own or else of its recipe set."""

    task_id: Id
    name: str
    state: TaskState
    result: Result
    waiver: FailureWaiver | None


class RecipeSummary(AnswerPart):
    """`awaits_locks`: the recipe is waiting, but its set does not have its resource locks yet.

    `attempt` counts the starts of the recipe.
    """

    recipe_id: Id
    host_recipe_id: Id | None
    state: RecipeState
    attempt: Id
    awaits_locks: bool
    system: str | None
    lab_controller: str | None
    whiteboard: str
    role: str | None
    reason: str | None
    since: Time
    result: Result
    tasks: list[TaskSummary]


class RecipeInterval(AnswerPart):
    state: RecipeState
    attempt: Id
    awaits_locks: bool
    system: str | None
    lab_controller: str | None
    reason: str | None
    since: Time
    until: Time | None
    since_position: int
    until_position: int | None


class ResultLog(AnswerPart):
    """A log file of a result. The lab keeps the file."""

    name: str
    url: str
    size_bytes: int | None
    sha256: str | None


class TaskResult(AnswerPart):
    """A result, with the attempt of the recipe in which it was reported."""

    task_id: Id
    attempt: Id
    path: str
    result: Result
    message: str
    score: float | None
    logs: list[ResultLog]
    log_urls: list[str]
    at: Time
    position: int


class TaskWithResults(TaskSummary):
    """A task with its results, as they were reported; the other fields are those of its recipe.

    `reason` is why the recipe was aborted or cancelled: a task that did not end has no message of its own.
    """

    recipe_set_id: Id
    recipe_id: Id
    recipe_state: RecipeState
    system: str | None
    attempt: Id
    reason: str | None
    results: list[TaskResult]


class Results(ReadAnswer):
    """The tasks of a job or of a recipe: those with the worst result first, then by id.

    The counts are those of all tasks with a result of Warn, Fail or Panic: without a waiver, and with one.
    Deleted results are missing at any moment; the results of tasks stay.
    """

    results_deleted: ResultsDeleted | None
    failed_task_count: int
    waived_task_count: int
    recipe_sets: list[ReviewedSet]
    tasks: list[TaskWithResults]


class RecipeLocks(AnswerPart):
    """Resource locks: those declared, and those held, which are null before the set has its locks.

    A guest holds none, because its host holds the locks for it.
    """

    declared: dict[str, Any]
    held: dict[str, Any] | None


class Recipe(ReadAnswer, RecipeSummary):
    """`deadline`: the time at which the watchdog expires. `guests`: the ids of the guest recipes.

    `claim`: that of a waiting recipe to a busy system.
    """

    job_id: Id
    recipe_set_id: Id
    priority: PriorityName
    owner: str
    group: str | None
    partition: str
    queue: str
    guests: list[Id]
    guestname: str | None
    guestargs: str | None
    reservesys: dict[str, Any] | None
    distro: dict[str, Any] | None
    deadline: Time | None
    claim: RecipeClaim | None
    locks: RecipeLocks
    seconds: Seconds
    distro_tree: ListedTree | None
    history: list[RecipeInterval]
    results: list[TaskResult]
    results_deleted: ResultsDeleted | None


class Reported(Answer):
    recipe_id: Id


class RecipeReturned(Answer):
    recipe_id: Id
    returned: bool


class QueuedRecipe(AnswerPart):
    """`effective_priority` is only for the queue of one system.

    `reason` is null unless `reasons` is true, and while the service still reads the log. `estimate` is null
    unless `estimates` is true.

    `weight` is null without weights, and while the service still reads the log to weigh resource locks.
    `held_back`: the dependencies, job filters and limits that keep the set from its first system; null while
    the service still reads the log.
    """

    recipe_id: Id
    recipe_set_id: Id
    job_id: Id
    state: RecipeState
    priority: PriorityName
    effective_priority: PriorityName | None
    weight: float | None
    held_back: list[HeldBackBy] | None
    reason: CurrentReason | None
    estimate: TimeLeft | None
    since: Time
    since_position: int
    owner: str
    group: str | None
    partition: str
    lab_controller: str | None
    whiteboard: str


class Queue(ListAnswer):
    recipes: list[QueuedRecipe]


class ReasonCount(AnswerPart):
    """The number of waiting recipes with a reason; `text` is the sentence of the code."""

    code: ReasonCode
    text: str
    recipes: int
    by_priority: dict[str, int]


class LabQueue(AnswerPart):
    """The number of waiting recipes that systems of a lab could run, busy ones included."""

    name: str
    recipes: int


class PartitionPosition(AnswerPart):
    name: str
    position: int


class ReasonCounts(ReadAnswer):
    """`recipes` is the number of all; a recipe may count in several labs.

    Counts of the present may be 5 s old. `partitions` has the position of each partition with waiting
    recipes, and `position` is the lowest of these.
    """

    recipes: int
    by_priority: dict[str, int]
    reasons: list[ReasonCount]
    lab_controllers: list[LabQueue]
    partitions: list[PartitionPosition]
