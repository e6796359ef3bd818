"""`labledger results`, and what failed in `watch` and `recipe`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import Result

from cli.jobs.job_view import MAX_FAILED, JobView
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]


def result(text: str, path: str = "", message: str = "", *urls: str) -> dict[str, Any]:
    reported = {"result": text, "path": path, "message": message, "score": None, "position": 9, "attempt": 1}
    return {**reported, "logs": [], "log_urls": list(urls)}


def task(task_id: int, recipe_id: int, worst: str, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    named = {"task_id": task_id, "recipe_id": recipe_id, "name": f"/task{task_id}", "system": "a.example.com"}
    return {**named, "result": worst, "reason": None, "results": list(results), **more}


LINK = "https://logs.example.com/dmesg.txt"
TASKS = [
    task(4, 2, "Fail", result("Pass", "/setup"), result("Fail", "/boot", "no <console>\x01", LINK)),
    task(5, 2, "Warn", reason="watchdog expired"),
    task(1, 1, "Pass", result("Pass")),
    task(2, 1, "Skip", result("Skip", "/skipped")),
    task(3, 1, "New"),
]


@pytest.fixture
def job(server: LoopbackServer) -> None:
    for path in ("/jobs/7/results", "/recipes/2/results"):
        server.on("GET", path, Answer({"position": 9, "tasks": TASKS}))


@pytest.mark.usefixtures("job")
def test_results__table__has_a_row_for_each_result_or_task_without_one(run: Run) -> None:
    _, _, *rows = run("results", "J:7", "--wide").stdout.splitlines()
    assert [tuple(row.split()[:2]) for row in rows] == [
        *(("Fail", "2"), ("Pass", "2"), ("Warn", "2"), ("Pass", "1"), ("Skip", "1"), ("New", "1"))
    ]
    assert "no <console>" in rows[0] and LINK in rows[0]
    assert "watchdog expired" in rows[2]


def test_results__of_a_recipe_and_only_failed__asks_the_service_for_them(
    run: Run, server: LoopbackServer
) -> None:
    server.on("GET", "/recipes/2/results", Answer({"position": 9, "tasks": []}))
    assert run("results", "R:2", "--failed").stdout == "nothing failed\n"
    assert server.asked[-1].query == {"failed": ["true"]}


@pytest.mark.usefixtures("job")
def test_results__as_junit__has_cases_that_fail_as_the_results_did(run: Run) -> None:
    found = run("results", "7", "--format", "junit")
    document = ET.fromstring(found.stdout)
    assert document.attrib == {
        "name": "job 7",
        "tests": "6",
        "failures": "1",
        "errors": "1",
        "skipped": "2",
    }
    suites = {suite.get("name"): [case.get("name") for case in suite] for suite in document}
    assert suites == {"recipe 1": ["/task1", "/skipped", "/task3"], "recipe 2": ["/boot", "/setup", "/task5"]}
    (failure,) = document.iter("failure")
    assert failure.attrib == {"type": "Fail", "message": "no <console>\N{REPLACEMENT CHARACTER}"}
    (error,) = document.iter("error")
    assert error.get("message") == "watchdog expired"
    assert [case.text for case in document.iter("system-out")] == [LINK]
    assert run("results", "7", "--format", "junit", "--json").exit_code == 2


def test_results__of_a_waived_task__say_by_whom_and_why(run: Run, server: LoopbackServer) -> None:
    waiver = {"of": "task", "by": "alice", "at": "2026-11-29T10:00:00Z", "reason": "old firmware"}
    bad = task(4, 2, "Fail", result("Pass", "/setup"), result("Fail", "/boot", "no console"), waiver=waiver)
    found = {"position": 9, "failed_task_count": 0, "waived_task_count": 1, "tasks": [bad]}
    server.on("GET", "/jobs/7/results", Answer(found))
    _, _, waived, passed = run("results", "7", "--wide").stdout.splitlines()
    assert "alice" not in passed and waived.endswith("by alice: old firmware")
    document = ET.fromstring(run("results", "7", "--format", "junit").stdout)
    assert (document.get("failures"), document.get("skipped")) == ("0", "1")
    (skipped,) = document.iter("skipped")
    assert skipped.get("message") == "Fail: no console, waived by alice: old firmware"
    server.on("GET", "/jobs/7/results", Answer({**found, "tasks": []}))
    left_out = run("results", "7", "--failed")
    assert (left_out.stdout, left_out.stderr) == ("nothing failed\n", "1 waived failure not shown\n")


def test_job_view__failures_that_are_waived__pass() -> None:
    client: Any = None
    waiver = {"of": "task", "by": "alice", "at": "2026-11-29T10:00:00Z", "reason": "old firmware"}
    bad = {"task_id": 4, "name": "/t", "state": "completed", "result": "Fail", "waiver": waiver}
    shown = {**recipe(), "state": "completed", "result": "Fail", "tasks": [bad]}

    def passed(of_set: Any = None, **task: Any) -> bool:
        row = {**shown, "tasks": [bad, {**bad, **task}]}
        job = {"recipe_sets": [{"recipe_set_id": 1, "waiver": of_set, "recipes": [row]}]}
        return JobView(client, 7, job=job, _recipes={2: row}).has_passed()

    assert passed() and passed(result="Pass", waiver=None)
    assert not passed(waiver=None) and passed(waiver, waiver=None)


def test_junit__several_results_of_one_name__are_different_cases(run: Run, server: LoopbackServer) -> None:
    tasks = [task(4, 2, "Pass", result("Pass"), result("Pass"), result("Pass", "/own"), result("Pass"))]
    server.on("GET", "/jobs/7/results", Answer({"position": 9, "tasks": tasks}))
    cases = ET.fromstring(run("results", "7", "--format", "junit").stdout).iter("testcase")
    assert [case.get("name") for case in cases] == ["/task4", "/task4 (2)", "/own", "/task4 (3)"]


def test_junit__task_that_ran_again__has_the_results_of_the_last_attempt(
    run: Run, server: LoopbackServer
) -> None:
    results = (
        {**result(kind, path), "attempt": attempt}
        for kind, path, attempt in (("Fail", "/boot", 1), ("Pass", "/boot", 2))
    )
    tasks = [{**task(4, 2, "Pass", *results), "attempt": 2}]
    server.on("GET", "/jobs/7/results", Answer({"position": 9, "tasks": tasks}))
    document = ET.fromstring(run("results", "7", "--format", "junit").stdout)
    assert (document.get("tests"), document.get("failures")) == ("1", "0")


def recipe(*results: dict[str, Any]) -> dict[str, Any]:
    tasks = [{"task_id": 4, "name": "/task4", "state": "running", "result": "Fail"}]
    return {"recipe_id": 2, "state": "running", "attempt": 1, "tasks": tasks, "results": list(results)}


def test_recipe__that_failed__shows_the_messages_of_this_attempt(run: Run, server: LoopbackServer) -> None:
    before = {**result("Fail", "/old", "of the first attempt"), "task_id": 4, "attempt": 1}
    failed = {**result("Panic", "/boot", "BUG at mm"), "task_id": 4, "attempt": 2}
    passed = {**result("Pass", "/good", "all well"), "task_id": 4, "attempt": 2}
    server.on("GET", "/recipes/2", Answer({**recipe(before, failed, passed), "attempt": 2}))
    shown = run("recipe", "R:2").stdout
    assert "recipe 2, /task4: Panic: /boot: BUG at mm" in shown
    assert "first attempt" not in shown and "all well" not in shown


def test_failed_results__many__the_first_and_the_command_for_all() -> None:
    client: Any = None
    failed = [{**result("Fail", f"/{number}"), "task_id": 4} for number in range(MAX_FAILED + 3)]
    shown = recipe(*failed)
    job = {"recipe_sets": [{"recipe_set_id": 1, "recipes": [shown]}]}
    lines = JobView(client, 7, job=job, _recipes={2: shown}).failed_results()
    assert len(lines) == MAX_FAILED + 1 and lines[0] == "recipe 2, /task4: Fail: /0"
    assert lines[-1] == "3 further failed results: labledger results 7 --failed"
