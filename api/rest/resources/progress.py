"""The forms of a progress report, and their reports in the domain."""

from __future__ import annotations

from collections.abc import Callable

from api.intake.declarations import reported_locks
from api.rest.contract.inputs.labs import ProgressItem
from domain.errors import Fault, FaultyInput
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
    ResultLog,
)

Form = tuple[frozenset[str], frozenset[str], Callable[[ProgressItem], Report | None]]


def _result(item: ProgressItem) -> Report | None:
    return ReportTaskResult(
        task_id=item.task_id or 0,
        result=item.result or "",
        message=item.message or "",
        score=item.score,
        log_urls=tuple(item.log_urls or ()),
        path=item.path or "",
        logs=tuple(ResultLog(**log.model_dump()) for log in item.logs or ()),
    )


def _task(item: ProgressItem) -> Report | None:
    task_id = item.task_id or 0
    if item.state == "running":
        return ReportTaskRunning(task_id)
    if item.state in ("completed", "aborted"):
        return ReportTaskEnded(task_id, item.state)
    return None


def _given_up(item: ProgressItem) -> Report | None:
    return ReportAborted(item.reason or "") if item.state == "aborted" else None


def _state(item: ProgressItem) -> Report | None:
    states: dict[str | None, Report] = {"installing": ReportInstalling(), "completed": ReportCompleted()}
    return states.get(item.state)


def _watchdog(item: ProgressItem) -> Report | None:
    return ReportWatchdog(item.watchdog_seconds or 0)


def _locks(item: ProgressItem) -> Report | None:
    return ReportLocks(reported_locks(item.locks or {}))


# The required fields, the optional ones, and the report that they make.
FORMS: tuple[Form, ...] = (
    (frozenset({"task_id", "result"}), frozenset({"message", "score", "path", "logs", "log_urls"}), _result),
    (frozenset({"task_id", "state"}), frozenset(), _task),
    (frozenset({"state", "reason"}), frozenset(), _given_up),
    (frozenset({"state"}), frozenset(), _state),
    (frozenset({"watchdog_seconds"}), frozenset(), _watchdog),
    (frozenset({"locks"}), frozenset(), _locks),
)


def read_report(item: ProgressItem) -> Report:
    """Return the report. Raises FaultyInput if the fields are those of no form, or for faulty locks."""
    given = {name for name in ProgressItem.model_fields if getattr(item, name) is not None} - {"attempt"}
    for needed, allowed, make in FORMS:
        if needed <= given <= needed | allowed and (report := make(item)) is not None:
            return report
    raise FaultyInput(
        [Fault("body", f"no progress report has exactly these fields: {', '.join(sorted(given)) or 'none'}")]
    )
