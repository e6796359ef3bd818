"""The log files of simulated results. The address of a file says what its text is, so nothing is stored."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

NAME: Final = "taskout.log"
PATH: Final = re.compile(rf"/recipe-(\d+)/task-(\d+)/(\d+)-(\w+)/{re.escape(NAME)}")


def log_of(logs_url: str, recipe_id: int, task_id: int, number: int, result: str) -> dict[str, Any]:
    """Return the log file of a result as a lab controller reports it."""
    path = f"/recipe-{recipe_id}/task-{task_id}/{number}-{result}/{NAME}"
    content = (text_at(path) or "").encode()
    return {
        "name": NAME,
        "url": f"{logs_url.rstrip('/')}{path}",
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def text_at(path: str) -> str | None:
    """Return the text of the log file at a path, None if there is none."""
    found = PATH.fullmatch(path)
    if found is None:
        return None
    recipe_id, task_id, number, result = found.groups()
    return (
        f":: recipe {recipe_id}, task {task_id}: result {number}\n"
        ":: no test has run, because this machine is simulated\n"
        f":: result: {result}\n"
    )
