"""The forms a progress report may take, as reports of the domain."""

from __future__ import annotations

from collections.abc import Callable

from api.rest.models import ProgressItem
from domain.errors import Fault, FaultyInput
from domain.recipe.reports import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
)

# The fields that are given -> the report. Fields in brackets may be given as well.
FORMS: tuple[tuple[frozenset[str], frozenset[str], Callable[[ProgressItem], Report | None]], ...] = (
    (
        frozenset({"task_id", "result"}),
        frozenset({"message", "score", "log_urls"}),
        lambda item: ReportTaskResult(
            item.task_id or 0,
            item.result or "",
            item.message or "",
            item.score,
            tuple(item.log_urls or ()),
        ),
    ),
    (
        frozenset({"task_id", "state"}),
        frozenset(),
        lambda item: {
            "running": ReportTaskRunning(item.task_id or 0),
            "completed": ReportTaskEnded(item.task_id or 0, "completed"),
            "aborted": ReportTaskEnded(item.task_id or 0, "aborted"),
        }.get(item.state or ""),
    ),
    (
        frozenset({"state", "reason"}),
        frozenset(),
        lambda item: ReportAborted(item.reason or "") if item.state == "aborted" else None,
    ),
    (
        frozenset({"state"}),
        frozenset(),
        lambda item: {"installing": ReportInstalling(), "completed": ReportCompleted()}.get(item.state or ""),
    ),
)


def read_report(item: ProgressItem) -> Report:
    """Raises FaultyInput when the fields given are none of the forms."""
    given = {name for name in item.model_fields_set if getattr(item, name) is not None}
    if "watchdog_seconds" in given:
        raise FaultyInput([Fault("watchdog_seconds", "not supported yet")])
    for needed, allowed, make in FORMS:
        if needed <= given <= needed | allowed and (report := make(item)) is not None:
            return report
    raise FaultyInput([Fault("body", f"no progress report has just {', '.join(sorted(given)) or 'nothing'}")])
