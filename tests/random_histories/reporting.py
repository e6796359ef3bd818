"""What a lab controller may report next of a recipe."""

from __future__ import annotations

from domain.recipe.state import Recipe
from domain.recipe_set.messages import (
    Report,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
)


def expected(recipe: Recipe) -> list[Report]:
    """The reports that fit its state; none where it has no system, or keeps it."""
    if recipe.state == "waiting":
        return [ReportInstalling()]
    if recipe.state not in ("installing", "running"):
        return []
    open_tasks = [task for task in recipe.tasks if task.state in ("new", "running")]
    if not open_tasks:
        return [ReportCompleted()]
    first = open_tasks[0]
    if first.state == "new":
        return [ReportTaskRunning(first.task_id)]
    ended = [ReportTaskEnded(first.task_id, state) for state in ("completed", "completed", "aborted")]
    return [*ended, ReportTaskResult(first.task_id, "Fail")]


def to_the_end(recipe: Recipe) -> list[Report]:
    """Everything that is left to be said of one that goes well."""
    if recipe.state not in ("waiting", "installing", "running"):
        return []
    told: list[Report] = [ReportInstalling()]
    for task in recipe.tasks:
        if task.state in ("new", "running"):
            told += [ReportTaskRunning(task.task_id), ReportTaskEnded(task.task_id, "completed")]
    return [*told, ReportCompleted()]


def whatever(recipe: Recipe) -> list[Report]:
    """What may come late, twice, or from a lab controller that has lost track."""
    task_id = recipe.tasks[0].task_id
    return [
        ReportInstalling(),
        ReportTaskRunning(task_id),
        ReportTaskEnded(task_id, "completed"),
        ReportCompleted(),
    ]
