"""The results of jobs and recipes, what failed first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import after, finish, in_state, recipe_for, report, start, submit

LOG = {
    "name": "dmesg.txt",
    "url": "https://logs.example.com/1/dmesg.txt",
    "size_bytes": 7,
    "sha256": "a" * 64,
}
FAILED = {"result": "Fail", "path": "/boot", "message": "no console", "score": 3.0, "logs": [LOG]}


@dataclass(frozen=True)
class Run:
    """A job of two recipes: the first one has passed, the second one failed in its second task."""

    job: int
    passed: int
    failed: int
    tasks: list[int]


@pytest.fixture(scope="module")
def run(service: Running) -> Iterator[Run]:
    with service.client() as admin:
        made = submit(admin, recipe_for("x86-01.east.example.com"), recipe_for("x86-03.east.example.com"))
        passed, failed = made["recipe_ids"]
        tasks = start(admin, passed)
        finish(admin, passed, tasks)
        tasks = start(admin, failed)
        for message in (
            {"task_id": tasks[0], "result": "Pass", "path": "/first"},
            {"task_id": tasks[0], "state": "completed"},
            {"state": "running", "task_id": tasks[1]},
            {"task_id": tasks[1], "result": "Pass", "path": "/setup"},
            {"task_id": tasks[1], **FAILED},
            {"task_id": tasks[1], "state": "completed"},
        ):
            assert report(admin, failed, message).status_code == 200
        done = report(admin, failed, {"state": "completed"})
        in_state(admin, failed, "completed")
        admin.get("/jobs", params=after(done))
        yield Run(made["job_id"], passed, failed, tasks)


def tasks_of(client: httpx.Client, path: str, **params: Any) -> list[dict[str, Any]]:
    answer = client.get(f"{path}/results", params=params)
    assert answer.status_code == 200, answer.text
    tasks: list[dict[str, Any]] = answer.json()["tasks"]
    return tasks


def test_results__of_a_job__failed_task_is_first_with_all_that_was_reported(
    client: httpx.Client, run: Run
) -> None:
    first, *others = tasks_of(client, f"/jobs/{run.job}")
    assert (first["task_id"], first["result"], first["recipe_id"]) == (run.tasks[1], "Fail", run.failed)
    assert (first["name"], first["system"], first["attempt"]) == ("/two", "x86-03.east.example.com", 1)
    assert [result["path"] for result in first["results"]] == ["/setup", "/boot"]
    assert first["results"][1].items() >= FAILED.items()
    assert [task["task_id"] for task in others] == sorted(task["task_id"] for task in others)
    assert {task["result"] for task in others} == {"Pass"} and len(others) == 3


def test_results__only_failed__leaves_out_what_passed(client: httpx.Client, run: Run) -> None:
    (task,) = tasks_of(client, f"/jobs/{run.job}", failed="true")
    assert [result["path"] for result in task["results"]] == ["/boot"]
    assert tasks_of(client, f"/recipes/{run.passed}", failed="true") == []


def test_results__of_a_recipe__those_of_its_job_and_of_the_recipe(client: httpx.Client, run: Run) -> None:
    of_job = tasks_of(client, f"/jobs/{run.job}")
    of_recipe = tasks_of(client, f"/recipes/{run.failed}")
    assert of_recipe == [task for task in of_job if task["recipe_id"] == run.failed]
    recipe = client.get(f"/recipes/{run.failed}").json()
    results = [result for task in of_recipe for result in task["results"]]
    assert sorted(results, key=lambda result: result["position"]) == recipe["results"]


def test_results__as_of_before_the_failure__know_nothing_of_it(client: httpx.Client, run: Run) -> None:
    failure = tasks_of(client, f"/jobs/{run.job}")[0]["results"][1]["position"]
    then = tasks_of(client, f"/jobs/{run.job}", as_of=failure - 1)
    assert "Fail" not in {task["result"] for task in then}
    assert all(result["position"] < failure for task in then for result in task["results"])


def test_results__of_a_job_that_was_cancelled__say_why_its_tasks_have_none(client: httpx.Client) -> None:
    made = submit(client, recipe_for("x86-01.east.example.com"))
    done = client.post(f"/jobs/{made['job_id']}/cancel", json={"reason": "wrong kernel"})
    tasks = tasks_of(client, f"/jobs/{made['job_id']}", failed="true", **after(done))
    shown = {(task["result"], task["recipe_state"], task["reason"], len(task["results"])) for task in tasks}
    assert shown == {("Warn", "cancelled", "wrong kernel", 0)} and len(tasks) == 2


def test_results__of_nothing__are_not_found_and_other_queries_refused(client: httpx.Client, run: Run) -> None:
    for path in ("/jobs/2147483647", "/recipes/2147483647"):
        assert client.get(f"{path}/results").status_code == 404
    refused = client.get(f"/jobs/{run.job}/results", params={"failed": "perhaps", "task": 1})
    assert refused.status_code == 422
    assert sorted(fault["where"] for fault in refused.json()["errors"]) == ["failed", "task"]
