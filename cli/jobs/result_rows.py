"""The results of tasks, a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, counted, plain, zone
from domain.roll_up import BAD_RESULTS, failures_first


def links(result: Row) -> Iterator[str]:
    """Yield the addresses of the logs of a result."""
    yield from (log["url"] for log in result["logs"])
    yield from result["log_urls"]


def shown_rows(tasks: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield a row for each result, and one for each task without results; only failures have a `waiver`."""
    for task in tasks:
        for result in failures_first(task["results"]) or [without_result(task)]:
            waiver = task.get("waiver") if result["result"] in BAD_RESULTS else None
            yield {**task, **result, "waiver": waiver}


def with_waivers(columns: tuple[Column, ...], rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns, with one for the waivers if there are any."""
    return (*columns, WAIVER_COLUMN) if any(map(waiver_text, rows)) else columns


def deletion_text(found: Row) -> str | None:
    """Return when and why the results of a job or recipe were deleted, None if they were not."""
    # Earlier versions of the service delete nothing.
    deleted = found.get("results_deleted")
    if not deleted:
        return None
    when, days = f"{clock(deleted['at'])} {zone()}", counted(deleted["days"], "day")
    return plain(f"deleted on {when}, {days} after the end, by the retention tag {deleted['tag']}")


def waiver_text(row: Row) -> str:
    """Return the person who waived a failure, and the reason; empty without a waiver."""
    # Earlier versions of the service have no waivers.
    waiver = row.get("waiver")
    return f"by {waiver['by']}: {waiver['reason']}" if waiver else ""


def without_result(task: Row) -> dict[str, Any]:
    """Return what stands for the results of a task without any: its own, and why its recipe was given up."""
    reason = task["reason"] if task["result"] in BAD_RESULTS else None
    return {"result": task["result"], "message": reason or "", "path": "", "logs": [], "log_urls": []}


WAIVER_COLUMN = Column("waived", waiver_text, "text", 1)
