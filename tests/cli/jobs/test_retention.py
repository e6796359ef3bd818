"""`labledger retention`, `keep`, and what other commands say about deleted results."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]
DELETED = {"tag": "scratch", "days": 30, "at": "2026-11-29T10:00:00Z", "position": 12}
TAGS = [
    {"name": "scratch", "days": 30, "needs_product": False, "due_job_count": 7},
    {"name": "audit", "days": 0, "needs_product": True, "due_job_count": 0},
]
DUE = {
    "job_id": 7,
    "owner": "ada",
    "partition": "default",
    "tag": "scratch",
    "days": 30,
    "ended_at": "2026-10-01T10:00:00Z",
    "result_count": 5,
    "log_count": 2,
    "log_bytes": 1_234,
    "lab_controllers": ["lab.east.example.com"],
}


def test_retention__with_and_without_dry_run__shows_jobs_or_tags(run: Run, server: LoopbackServer) -> None:
    server.on("GET", "/retention", Answer({"position": 20, "tags": TAGS, "jobs": [DUE]}))
    _, *tags = run("retention").stdout.splitlines()
    assert [row.split()[:2] for row in tags[-2:]] == [["scratch", "30"], ["audit", "for"]]
    found = run("retention", "--dry-run", "--tags", "scratch:30", "--wide")
    assert server.asked[-1].query["tags"] == ["scratch:30"]
    assert "1234" in found.stdout and "lab.east.example.com" in found.stdout
    assert "the first 1 of 7 jobs" in found.stderr
    assert json.loads(run("retention", "--dry-run", "--json").stdout)["jobs"] == [DUE]


def test_keep__and_revoke__say_what_is_so_now(run: Run, server: LoopbackServer) -> None:
    server.on("POST", "/jobs/7/keep", Answer({"position": 20, "job_id": 7, "changed": True}))
    assert run("keep", "J:7", "--reason", "a bug").stdout == "job 7 is now kept\n"
    assert run("keep", "7", "--reason", "fixed", "--revoke").stdout == "job 7 is now not kept\n"
    assert run("keep", "7").exit_code == 2


def test_results_and_logs__deleted__say_when_and_why(run: Run, server: LoopbackServer) -> None:
    tasks = [{"task_id": 4, "result": "Fail", "reason": None, "results": []}]
    shown = {"position": 20, "tasks": tasks, "results_deleted": DELETED, "waived_task_count": 0}
    server.on("GET", "/recipes/2/results", Answer(shown))
    why = "30 days after the end, by the retention tag scratch"
    logs, results = run("logs", "2"), run("results", "R:2")
    assert logs.stdout.startswith("deleted on 2026-11-29") and why in logs.stdout
    assert "results and logs were deleted on 2026-11-29" in results.stderr and why in results.stderr
