"""Answers about jobs and recipe sets."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from api.rest.contract.answers.admission import ApplyingFilter, Bucket, Dependency, HeldBackBy
from api.rest.contract.answers.common import Answer, AnswerPart, FaultShape, ListAnswer, Problem, ReadAnswer
from api.rest.contract.answers.recipes import RecipeLocks, RecipeSummary, Seconds
from api.rest.contract.answers.retention import Kept, ResultsDeleted
from api.rest.contract.answers.reviews import FailureWaiver, SetReview
from api.rest.contract.values import Id, PriorityName, RecipeState, Result, StageName, Time


class SubmittedJob(AnswerPart):
    """`warnings`: about parts of the job without effect, and unknown names."""

    job_id: Id
    recipe_set_ids: list[Id]
    recipe_ids: list[Id]
    partition: str
    queue: str
    warnings: list[FaultShape]


class Submitted(Answer):
    """The fields of the submitted job, or only `jobs` with those of each job if a list was submitted."""

    job_id: Id | None = None
    recipe_set_ids: list[Id] | None = None
    recipe_ids: list[Id] | None = None
    partition: str | None = None
    queue: str | None = None
    warnings: list[FaultShape] | None = None
    jobs: list[SubmittedJob] | None = None


class AcceptedItem(SubmittedJob):
    """A job of a list or stream that was submitted by itself."""

    status: Literal[201]
    position: int


class RefusedItem(Problem):
    """A refusal of one job of a list or stream. `retry_after_seconds`: it may be repeated after that time."""

    retry_after_seconds: int | None = None


class ItemAnswers(Answer):
    """The answers for the jobs of a list with lenient handling, in the order of the list."""

    jobs: list[AcceptedItem | RefusedItem]


class RerunDraft(ReadAnswer):
    """The `job` that a rerun would submit, as XML or JSON, with the sets that it copies."""

    job_id: Id
    recipe_set_ids: list[Id]
    media_type: str
    job: str
    warnings: list[FaultShape]


class SetsAdded(SubmittedJob, Answer):
    """The numbers of the added sets, with those of their job."""


class JobClosed(Answer):
    job_id: Id
    closed: bool


class JobCancelled(Answer):
    job_id: Id
    cancelled: bool


class JobChanged(Answer):
    job_id: Id
    changed: bool


class ListedJob(AnswerPart):
    """An `open` job takes further recipe sets. `stage` says how far the job is (docs/states.md)."""

    job_id: Id
    state: RecipeState
    stage: StageName
    open: bool
    result: Result
    whiteboard: str
    owner: str
    group: str | None
    partition: str
    queue: str
    submitted_at: Time
    recipe_set_ids: list[Id]


class JobList(ListAnswer):
    jobs: list[ListedJob]


class SetSummary(AnswerPart):
    """`review` is null while the set needs one; `waiver` accepts all failures of the set.

    The counts are those of the tasks with a result of Warn, Fail or Panic: without a waiver, and with one.
    """

    recipe_set_id: Id
    priority: PriorityName
    state: RecipeState
    result: Result
    review: SetReview | None
    waiver: FailureWaiver | None
    failed_task_count: int
    waived_task_count: int
    recipes: list[RecipeSummary]


class Job(ReadAnswer):
    """`document` is the job in its normalised JSON form, with defaults and with added recipe sets.

    `origin` is the job that was copied. `copies` are the latest 100 copies of this job, latest first.
    `results_deleted` does not depend on the moment of the read, because results of the past are deleted, too.
    `owner_removed_at`: the removal of the user who owned it; a later user of that name is another one.
    """

    job_id: Id
    state: RecipeState
    stage: StageName
    open: bool
    result: Result
    whiteboard: str
    owner: str
    owner_removed_at: Time | None
    submitter: str
    group: str | None
    partition: str
    queue: str
    document: dict[str, Any]
    submitted_at: Time
    ended_at: Time | None
    kept: Kept | None
    results_deleted: ResultsDeleted | None
    origin: Id | None
    copies: list[Id]
    recipe_sets: list[SetSummary]
    seconds: Seconds


class Original(ReadAnswer):
    """The submitted job itself, JSON or XML; the position is only in the header."""

    model_config = ConfigDict(extra="allow")

    position: int = 0


class RecipeSet(ReadAnswer):
    """`locks`: the merged locks of all recipes, with unknown names for their systems, labs and pools.

    `weight` and the fields after it are those of a set with unplaced recipes, else null. They are also null
    without weights, and while the service still reads the log to weigh resource locks. `static_weight` is the
    weight before ageing, `cells` has the value of the worst cell by level, and `worst_recipes` the first
    placed recipe with that cell, null at a level without contention and for the whole-lab lock.

    `review`, `waiver` and the counts are those of the set in its job.

    `job_filter`: the first job filter that matches the set and is not CONTINUE. `held_back`: the
    dependencies, job filters and limits that keep the set from its first system; null while the service
    still reads the log.
    """

    recipe_set_id: Id
    job_id: Id
    owner: str
    group: str | None
    partition: str
    queue: str
    priority: PriorityName
    preemptible: bool
    state: RecipeState
    result: Result
    review: SetReview | None
    waiver: FailureWaiver | None
    failed_task_count: int
    waived_task_count: int
    recipes: list[RecipeSummary]
    locks: RecipeLocks
    weight: float | None
    static_weight: float | None
    ticks: int | None
    cells: dict[str, float] | None
    worst_recipes: dict[str, Id | None] | None
    depends_on: list[Dependency]
    job_filter: ApplyingFilter | None
    buckets: list[Bucket]
    held_back: list[HeldBackBy] | None


class PriorityChanged(Answer):
    recipe_set_id: Id
    changed: bool


class SetCancelled(Answer):
    recipe_set_id: Id
    cancelled: bool
