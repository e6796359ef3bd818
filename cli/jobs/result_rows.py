"""The results of tasks, a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cli.terminal.tables import Row
from domain.roll_up import BAD_RESULTS


def links(result: Row) -> Iterator[str]:
    """Yield the addresses of the logs of a result."""
    yield from (log["url"] for log in result["logs"])
    yield from result["log_urls"]


def shown_rows(tasks: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield a row for each result, and one for each task without results."""
    for task in tasks:
        for result in task["results"] or [without_result(task)]:
            yield {**task, **result}


def without_result(task: Row) -> dict[str, Any]:
    """Return what stands for the results of a task without any: its own, and why its recipe was given up."""
    reason = task["reason"] if task["result"] in BAD_RESULTS else None
    return {"result": task["result"], "message": reason or "", "path": "", "logs": [], "log_urls": []}
