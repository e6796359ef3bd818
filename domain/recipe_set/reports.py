"""Reports of a lab controller on a recipe, and the events that follow from them (docs/http.md, progress).

A repeated report leads to no events. A report that contradicts the state of the recipe is refused. The events
of a recipe, its guests and its system belong to one commit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from domain.contention.algebra import held, uncovered
from domain.contention.documents import locks_to_json
from domain.errors import Refused
from domain.events import Decided, Event
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import OPEN_TASK, RECIPE, TASK
from domain.recipe.results import log_count
from domain.recipe.state import Recipe, Task
from domain.recipe_set.ending import end_one
from domain.recipe_set.kept_systems import give_up, kept_seconds
from domain.recipe_set.members import Members
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportLocks,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
    ReportWatchdog,
)
from domain.recipe_set.provisioning import BEFORE_FIRST_TASK, ProvisioningFailure, provisioning_failed
from domain.system import events as system_events
from domain.system.failures import BROKEN_AFTER
from domain.system.lifecycle import USAGE

# States in which a report of `installing` is repeated or late.
AFTER_INSTALLING = ("running", "reserved", "completed")
PANIC = "panic during installation"

# Maxima for one recipe, as in Beaker.
MAX_RESULTS: Final = 7_500
MAX_LOGS: Final = 7_500


def report(
    members: Members,
    recipe: Recipe,
    message: Report,
    broken_after: int = BROKEN_AFTER,
    attempt: int | None = None,
) -> Decided:
    """Return the events that follow from a report, none for a repeated report.

    `broken_after` is the limit of the recipe's lab controller, `attempt` the attempt that the report names.
    Raises Refused if the report contradicts the state, or is about another attempt.
    """
    if fault := attempt_fault(recipe, attempt, is_installing=isinstance(message, ReportInstalling)):
        raise Refused(f"recipe {recipe.recipe_id} {fault}")
    if recipe.system is None:
        raise Refused(f"recipe {recipe.recipe_id} is {recipe.state} and has no system")
    if recipe.awaits_locks and not isinstance(message, ReportAborted):
        raise Refused(f"recipe {recipe.recipe_id} waits for its resource locks and has not started")
    if recipe.state in BEFORE_FIRST_TASK:
        if isinstance(message, ReportAborted):
            return provisioning_failed(members, recipe, ProvisioningFailure(message.reason), broken_after)
        if isinstance(message, ReportTaskResult) and message.result == "Panic":
            return _panic(members, recipe, message, broken_after)
    return _HANDLERS[type(message)](members, recipe, message)


def attempt_fault(recipe: Recipe, attempt: int | None, *, is_installing: bool) -> str | None:
    """Return why a report is not about the present attempt of a recipe, None if it is.

    A report that names no attempt counts once the present attempt is installing. A report of `installing`
    may leave the attempt out only for the first one.
    """
    if attempt is not None:
        if attempt == recipe.attempt:
            return None
        return f"is at attempt {recipe.attempt}, not {attempt}"
    if recipe.attempt == 1 or not (is_installing or recipe.state == "waiting"):
        return None
    return f"is at attempt {recipe.attempt}, and the report must name its attempt"


def _installing(members: Members, recipe: Recipe, _: ReportInstalling) -> Decided:
    if recipe.state in ("installing", *AFTER_INSTALLING):
        return []
    return _move(members, recipe, "installing")


def _task_running(members: Members, recipe: Recipe, message: ReportTaskRunning) -> Decided:
    task = _task(recipe, message.task_id)
    if task.state == "running" or (task.state == "completed" and recipe.state != "waiting"):
        return []
    return _start(members, recipe, task)


def _start(members: Members, recipe: Recipe, task: Task) -> Decided:
    """Return the events of the start of a task, and of a recipe whose earlier reports were lost."""
    decided = [] if recipe.state == "running" else _move(members, recipe, *_until_running(recipe))
    TASK.require(f"task {task.task_id} of {recipe.subject}", task.state, "running")
    return [*decided, (recipe.subject, recipe_events.TaskStarted(task_id=task.task_id))]


def _task_result(members: Members, recipe: Recipe, message: ReportTaskResult) -> Decided:
    task = _task(recipe, message.task_id)
    event = _result_event(message)
    if recipe.results.has(event):
        return []
    if task.state not in OPEN_TASK:
        where = f"task {task.task_id} of recipe {recipe.recipe_id}"
        raise Refused(f"{where} is {task.state} and accepts no more results")
    _require_room(recipe, event)
    started = _start(members, recipe, task) if task.state == "new" else []
    return [*started, (recipe.subject, event)]


def _panic(members: Members, recipe: Recipe, message: ReportTaskResult, broken_after: int) -> Decided:
    """Return the events of a panic before the first task, which counts as failed provisioning."""
    _task(recipe, message.task_id)
    reason = f"{PANIC}: {message.message}" if message.message else PANIC
    failed = provisioning_failed(members, recipe, ProvisioningFailure(reason), broken_after)
    return [(recipe.subject, _result_event(message)), *failed]


def _result_event(message: ReportTaskResult) -> recipe_events.TaskResult:
    return recipe_events.TaskResult(
        task_id=message.task_id,
        result=message.result,
        message=message.message,
        score=message.score,
        log_urls=message.log_urls,
        path=message.path,
        logs=tuple(asdict(log) for log in message.logs),
    )


def _require_room(recipe: Recipe, result: recipe_events.TaskResult) -> None:
    if recipe.results.result_count >= MAX_RESULTS:
        raise Refused(f"recipe {recipe.recipe_id} has {MAX_RESULTS} results, the maximum")
    if recipe.results.log_count + log_count(result) > MAX_LOGS:
        raise Refused(f"recipe {recipe.recipe_id} would have more than {MAX_LOGS} logs, the maximum")


def _task_ended(members: Members, recipe: Recipe, message: ReportTaskEnded) -> Decided:
    """Return the events of the end of a task; a new task that completes starts first."""
    task = _task(recipe, message.task_id)
    if task.state == message.state:
        return []
    if message.state == "aborted":
        TASK.require(f"task {task.task_id} of {recipe.subject}", task.state, "aborted")
        return [(recipe.subject, recipe_events.TaskAborted(task_id=task.task_id))]
    started = _start(members, recipe, task) if task.state == "new" else []
    TASK.require(
        f"task {task.task_id} of {recipe.subject}", "running" if started else task.state, "completed"
    )
    return [*started, (recipe.subject, recipe_events.TaskCompleted(task_id=task.task_id))]


def _completed(members: Members, recipe: Recipe, _: ReportCompleted) -> Decided:
    """Return the events of a recipe whose tasks have ended: it is completed, or reserved by `reservesys`."""
    if recipe.state in ("completed", "reserved"):
        return []
    is_unstarted = recipe.state in BEFORE_FIRST_TASK
    RECIPE.require(recipe.subject, "running" if is_unstarted else recipe.state, "completed")
    open_tasks = [str(task.task_id) for task in recipe.tasks if task.state in OPEN_TASK]
    if open_tasks:
        raise Refused(f"recipe {recipe.recipe_id} has unfinished tasks: {', '.join(open_tasks)}")
    # Only possible if all tasks were aborted, and the reports of the start were lost.
    moved = _move(members, recipe, *_until_running(recipe)) if is_unstarted else []
    seconds = kept_seconds(recipe)
    if seconds is not None:
        return [*moved, (recipe.subject, recipe_events.RecipeReserved(system=_on(recipe), seconds=seconds))]
    return [*moved, *end_one(members, recipe, recipe_events.RecipeCompleted())]


def _aborted(members: Members, recipe: Recipe, message: ReportAborted) -> Decided:
    if recipe.state == "aborted" or recipe.abort_reason is not None:
        return []
    RECIPE.require(recipe.subject, recipe.state, "aborted")
    return give_up(members, recipe, message.reason)


def _watchdog(_: Members, recipe: Recipe, message: ReportWatchdog) -> Decided:
    if not recipe.started:
        raise Refused(f"recipe {recipe.recipe_id} is {recipe.state} and has no running watchdog")
    return [(recipe.subject, recipe_events.WatchdogSet(seconds=message.seconds))]


def _locks(_: Members, recipe: Recipe, message: ReportLocks) -> Decided:
    """Return the event of narrowed locks, none if they are equal to the held ones."""
    if not recipe.started or recipe.held is None:
        raise Refused(f"recipe {recipe.recipe_id} is {recipe.state} and has no locks to give up")
    narrowed = held(message.locks)
    if missing := [*uncovered(recipe.held, narrowed)]:
        others = f" and {len(missing) - 1} more of these locks" if len(missing) > 1 else ""
        raise Refused(
            f"recipe {recipe.recipe_id} does not hold {missing[0]}{others}, and can only give up locks"
        )
    if narrowed == recipe.held:
        return []
    return [(recipe.subject, recipe_events.LocksNarrowed(locks=locks_to_json(narrowed)))]


def _on(recipe: Recipe) -> str:
    assert recipe.system is not None, f"{recipe.subject} has no system"
    return recipe.system


def _until_running(recipe: Recipe) -> tuple[str, ...]:
    """Return the states from the present one up to `running`; a report of `installing` may be lost."""
    return ("installing", "running") if recipe.state == "waiting" else ("running",)


def _move(members: Members, recipe: Recipe, *states: str) -> Decided:
    """Return the events that move a recipe through states in turn, and for a host also its system."""
    RECIPE.require(recipe.subject, recipe.state, states[0])
    on = _on(recipe)
    if recipe.is_guest:
        return [(recipe.subject, _STATES[state](system=on)) for state in states]
    system = members.systems[on]
    USAGE.require(system.subject, system.usage, states[0])
    moved: Decided = []
    for state in states:
        moved.append((recipe.subject, _STATES[state](system=on)))
        moved.append((system.subject, _USAGES[state](recipe_id=recipe.recipe_id)))
    return moved


def _task(recipe: Recipe, task_id: int) -> Task:
    task = recipe.task(task_id)
    if task is None:
        raise Refused(f"recipe {recipe.recipe_id} has no task {task_id}")
    return task


_HANDLERS: dict[type[Any], Callable[[Members, Recipe, Any], Decided]] = {
    ReportInstalling: _installing,
    ReportTaskRunning: _task_running,
    ReportTaskResult: _task_result,
    ReportTaskEnded: _task_ended,
    ReportCompleted: _completed,
    ReportAborted: _aborted,
    ReportWatchdog: _watchdog,
    ReportLocks: _locks,
}

_STATES: dict[str, Callable[..., Event]] = {
    "installing": recipe_events.RecipeInstalling,
    "running": recipe_events.RecipeRunning,
}

_USAGES: dict[str, Callable[..., Event]] = {
    "installing": system_events.SystemInstalling,
    "running": system_events.SystemRunning,
}
