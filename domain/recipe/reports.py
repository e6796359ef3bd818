"""What a lab controller reports of a recipe, and the events that follow (api.md, progress).

A repeated report changes nothing; one that contradicts the recipe's state is refused. Recipe and system move
together: the events of both are decided here, for one commit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from domain.errors import Refused
from domain.events import Decided
from domain.recipe import events as happened
from domain.recipe.lifecycle import RECIPE, TASK
from domain.recipe.state import Recipe, Task, result_of
from domain.system import events as system_happened
from domain.system.lifecycle import USAGE
from domain.system.state import System
from domain.system.usage import freed

# Nobody gets there without having been installing: that report can only be one that comes again.
AFTER_INSTALLING = ("running", "reserved", "completed")


@dataclass(frozen=True)
class ReportInstalling:
    """The lab controller has begun to provision."""


@dataclass(frozen=True)
class ReportTaskRunning:
    """A task has started; the first one makes the recipe running."""

    task_id: int


@dataclass(frozen=True)
class ReportTaskResult:
    """A task has one more result."""

    task_id: int
    result: str
    message: str = ""
    score: float | None = None
    log_urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportTaskEnded:
    """A task has ended, as `state` says: completed or aborted."""

    task_id: int
    state: str


@dataclass(frozen=True)
class ReportCompleted:
    """The last task has ended."""


@dataclass(frozen=True)
class ReportAborted:
    """The lab controller gives the recipe up."""

    reason: str


Report = (
    ReportInstalling
    | ReportTaskRunning
    | ReportTaskResult
    | ReportTaskEnded
    | ReportCompleted
    | ReportAborted
)


def report(recipe: Recipe, system: System, message: Report) -> Decided:
    """The events that follow from a report; none when it says what is known already.

    `system` is the one the recipe is on. Raises Refused when the report contradicts the state.
    """
    if recipe.system is None:
        raise Refused(f"{recipe.subject} is {recipe.state}: it has no system")
    return _HANDLERS[type(message)](recipe, system, message)


def _installing(recipe: Recipe, system: System, _: ReportInstalling) -> Decided:
    if recipe.state in ("installing", *AFTER_INSTALLING):
        return []
    RECIPE.require(recipe.subject, recipe.state, "installing")
    USAGE.require(system.subject, system.usage, "installing")
    return [
        (recipe.subject, happened.RecipeInstalling(system=system.fqdn)),
        (system.subject, system_happened.SystemInstalling(recipe_id=recipe.recipe_id)),
    ]


def _task_running(recipe: Recipe, system: System, message: ReportTaskRunning) -> Decided:
    task = _task(recipe, message.task_id)
    if task.state == "running" or (task.state == "completed" and recipe.state != "waiting"):
        return []
    decided: Decided = []
    if recipe.state != "running":
        RECIPE.require(recipe.subject, recipe.state, "running")
        USAGE.require(system.subject, system.usage, "running")
        decided = [
            (recipe.subject, happened.RecipeRunning(system=system.fqdn)),
            (system.subject, system_happened.SystemRunning(recipe_id=recipe.recipe_id)),
        ]
    TASK.require(f"task {task.task_id} of {recipe.subject}", task.state, "running")
    return [*decided, (recipe.subject, happened.TaskStarted(task_id=task.task_id))]


def _task_result(recipe: Recipe, _: System, message: ReportTaskResult) -> Decided:
    task = _task(recipe, message.task_id)
    event = happened.TaskResult(
        task_id=message.task_id,
        result=message.result,
        message=message.message,
        score=message.score,
        log_urls=message.log_urls,
    )
    if result_of(event) in task.results:
        return []
    if task.state != "running":
        raise Refused(f"task {task.task_id} of {recipe.subject} is {task.state}: it takes no result now")
    return [(recipe.subject, event)]


def _task_ended(recipe: Recipe, _: System, message: ReportTaskEnded) -> Decided:
    task = _task(recipe, message.task_id)
    if task.state == message.state:
        return []
    TASK.require(f"task {task.task_id} of {recipe.subject}", task.state, message.state)
    ended = happened.TaskCompleted if message.state == "completed" else happened.TaskAborted
    return [(recipe.subject, ended(task_id=task.task_id))]


def _completed(recipe: Recipe, system: System, _: ReportCompleted) -> Decided:
    if recipe.state == "completed":
        return []
    RECIPE.require(recipe.subject, recipe.state, "completed")
    open_tasks = [str(task.task_id) for task in recipe.tasks if task.state in ("new", "running")]
    if open_tasks:
        raise Refused(f"{recipe.subject} cannot be completed: tasks {', '.join(open_tasks)} have not ended")
    return [(recipe.subject, happened.RecipeCompleted()), freed(system)]


def _aborted(recipe: Recipe, system: System, message: ReportAborted) -> Decided:
    if recipe.state == "aborted":
        return []
    RECIPE.require(recipe.subject, recipe.state, "aborted")
    return [(recipe.subject, happened.RecipeAborted(reason=message.reason)), freed(system)]


def _task(recipe: Recipe, task_id: int) -> Task:
    task = recipe.task(task_id)
    if task is None:
        raise Refused(f"{recipe.subject} has no task {task_id}")
    return task


_HANDLERS: dict[type[Any], Callable[[Recipe, System, Any], Decided]] = {
    ReportInstalling: _installing,
    ReportTaskRunning: _task_running,
    ReportTaskResult: _task_result,
    ReportTaskEnded: _task_ended,
    ReportCompleted: _completed,
    ReportAborted: _aborted,
}
