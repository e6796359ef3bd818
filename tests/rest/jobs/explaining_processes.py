"""The explaining processes of a service, which tests stop and kill."""

from __future__ import annotations

from pathlib import Path

from tests.harness.running import Running
from tests.harness.watching import worker_of

EXPLAINS = b"workers.explaining.child"


def explainers(service: Running) -> list[int]:
    """Return the child processes of the API worker that compute explanations."""
    tasks = Path(f"/proc/{worker_of(service).pid}/task").glob("*/children")
    children = [pid for task in tasks for pid in task.read_text().split()]
    return [int(pid) for pid in children if EXPLAINS in Path(f"/proc/{pid}/cmdline").read_bytes()]
