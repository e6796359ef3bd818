"""Reports that a lab controller may send on a recipe."""

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
    """Return the reports that fit the state; none if the recipe has no system, or keeps it."""
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
    """Return the remaining reports of a successful recipe."""
    if recipe.state not in ("waiting", "installing", "running"):
        return []
    reports: list[Report] = [ReportInstalling()]
    for task in recipe.tasks:
        if task.state in ("new", "running"):
            reports += [ReportTaskRunning(task.task_id), ReportTaskEnded(task.task_id, "completed")]
    return [*reports, ReportCompleted()]


def whatever(recipe: Recipe) -> list[Report]:
    """Return any reports, also late, repeated or contradictory ones."""
    task_id = recipe.tasks[0].task_id
    return [
        ReportInstalling(),
        ReportTaskRunning(task_id),
        ReportTaskEnded(task_id, "completed"),
        ReportCompleted(),
    ]
