"""Submission and `watch` of jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from api.client import Client
from cli.jobs.submit import content_type
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest, sent_events

Run = Callable[..., Result]

SUBMITTED = {"job_id": 7, "recipe_set_ids": [3], "recipe_ids": [12]}


def job(state: str, result: str = "None", position: int = 1) -> dict[str, Any]:
    recipe = {"recipe_id": 12, "state": state, "result": result, "system": "a", "whiteboard": "", "tasks": []}
    sets = [{"recipe_set_id": 3, "state": state, "result": result, "recipes": [recipe]}]
    return {"job_id": 7, "state": state, "result": result, "recipe_sets": sets, "position": position}


def recipe(_: ReceivedRequest) -> Answer:
    history = [{"state": "queued", "since": "2026-01-01T00:00:00Z", "until": None}]
    return Answer({"recipe_id": 12, "state": "queued", "system": "a", "history": history})


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "job.xml"
    path.write_text("<job/>", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.xml", b"{", "application/xml"),  # The suffix of the name decides.
        ("a.json", b"<", "application/json"),
        ("<stdin>", b" \n{}", "application/json"),
        ("<stdin>", b"<job/>", "application/xml"),
        ("<stdin>", b"", "application/xml"),  # The server reports the faults.
    ],
)
def test_content_type__any_file__by_its_name_else_by_its_content(
    name: str, content: bytes, kind: str
) -> None:
    assert content_type(name, content) == kind


def test_submit__accepted__prints_the_ids_and_the_command_to_watch(
    server: LoopbackServer, run: Run, file: str
) -> None:
    server.on("POST", "/jobs", Answer(SUBMITTED, 201))
    result = run("submit", file)
    said = "job 7 submitted: recipe set 3, recipe 12 (labledger watch 7)\n"
    assert (result.exit_code, result.stdout) == (0, said)
    (asked,) = server.asked
    assert (asked.body, asked.headers["Content-Type"]) == (b"<job/>", "application/xml")
    assert asked.headers["Idempotency-Key"]


def test_submit__standard_input__is_posted(server: LoopbackServer, run: Run) -> None:
    server.on("POST", "/jobs", Answer(SUBMITTED, 201))
    result = run("submit", "-", "--json", input='{"recipe_sets": []}')
    assert json.loads(result.stdout)["job_id"] == 7
    assert server.asked[0].headers["Content-Type"] == "application/json"


def test_submit__one_file_refused__others_are_submitted_and_status_is_1(
    server: LoopbackServer, run: Run, file: str
) -> None:
    refusal = Answer({"title": "Wrong", "errors": [{"where": "line 1", "message": "no job"}]}, 422)
    server.on("POST", "/jobs", refusal, Answer(SUBMITTED, 201))
    result = run("submit", file, file)
    assert result.exit_code == 1
    assert "job 7 submitted" in result.stdout
    assert result.stderr.splitlines() == [f"{file}:", "Error: Wrong", "  line 1: no job"]


def test_submit__accepted_with_warnings__prints_them_and_strict_is_passed_on(
    server: LoopbackServer, run: Run, file: str
) -> None:
    warning = {"where": "line 5", "message": "there is no pool"}
    server.on("POST", "/jobs", Answer({**SUBMITTED, "warnings": [warning]}, 201))
    result = run("submit", "--strict", file)
    assert (result.exit_code, "job 7 submitted" in result.stdout) == (0, True)
    assert result.stderr.splitlines() == [f"{file}: warnings:", "  line 5: there is no pool"]
    assert server.asked[0].query == {"strict": ["true"]}


def test_job__original__prints_the_bytes_that_were_submitted(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/jobs/7/original", Answer({"any": "thing"}))
    result = run("job", "7", "--original")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"any": "thing"})


def test_submit__refused_with_wait__nothing_is_waited_for(
    server: LoopbackServer, run: Run, file: str
) -> None:
    server.on("POST", "/jobs", Answer({"title": "Wrong"}, 422))
    assert run("submit", file, "--wait").exit_code == 1
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("state", "outcome", "status"),
    [
        ("completed", "Pass", 0),
        ("completed", "Skip", 0),
        ("completed", "None", 0),  # Tasks without results.
        ("completed", "Warn", 1),
        ("completed", "Fail", 1),
        ("completed", "Panic", 1),
        ("aborted", "Pass", 1),
        ("cancelled", "None", 1),
    ],
)
def test_wait__job_finishes__exit_status_is_its_result(
    server: LoopbackServer, run: Run, file: str, state: str, outcome: str, status: int
) -> None:
    server.on("POST", "/jobs", Answer(SUBMITTED, 201, {"Labledger-Position": "5"}))
    server.on("GET", "/jobs/7", Answer(job("queued", position=5)), Answer(job(state, outcome, position=9)))
    server.on("GET", "/recipes/12", recipe)
    server.on(
        "GET",
        "/events",
        sent_events(
            {"position": 8, "topic": "recipe.queued", "subject": "recipe/99"},  # An event of another job.
            {"position": 9, "topic": f"recipe.{state}", "subject": "recipe/12"},
        ),
    )
    assert run("submit", file, "--wait").exit_code == status
    least = [asked.query["min_position"] for asked in server.asked_for("GET", "/jobs/7")]
    assert least == [["5"], ["9"]]
    assert server.asked_for("GET", "/events")[0].query["after"] == ["5"]


def test_watch__finished_already__returns_without_a_stream(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/jobs/7", Answer(job("completed", "Pass")))
    server.on("GET", "/recipes/12", recipe)
    result = run("watch", "7", "--json")
    assert result.exit_code == 0
    assert [json.loads(line)["state"] for line in result.stdout.splitlines()] == ["completed"]
    assert not server.asked_for("GET", "/events")


def test_watch__in_a_pipe__a_line_for_each_change_and_the_table(server: LoopbackServer, run: Run) -> None:
    moves = [job("queued", position=1), job("running", position=2), job("completed", "Pass", position=4)]
    server.on("GET", "/jobs/7", *map(Answer, moves))
    server.on("GET", "/recipes/12", recipe)
    events = [{"position": at, "topic": "recipe.running", "subject": "recipe/12"} for at in (2, 3, 4)]
    server.on("GET", "/events", sent_events(*events))
    lines = run("watch", "7").stdout.splitlines()
    assert lines[:3] == [f"job 7 {state}: recipe 12 {state}" for state in ("queued", "running", "completed")]
    assert lines[3].strip() == "job 7: completed, Pass"
    assert lines[-1].split()[:3] == ["12", "3", "completed"]


@pytest.mark.parametrize("arguments", [["watch", "7"], ["watch", "7", "--json"], ["submit", "--wait"]])
def test_watch__interrupted__says_how_to_go_on(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch, file: str, arguments: list[str]
) -> None:
    monkeypatch.setattr(Client, "events", _interrupted)
    server.on("POST", "/jobs", Answer(SUBMITTED, 201))
    server.on("GET", "/jobs/7", Answer(job("queued")))
    server.on("GET", "/recipes/12", recipe)
    result = run(*arguments, *([file] if arguments[0] == "submit" else []))
    assert result.exit_code == 130
    assert "labledger watch 7" in result.stderr and "Aborted" not in result.output


def _interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_watch__no_such_job__is_a_failure(run: Run) -> None:
    assert run("watch", "8").exit_code == 1


def test_watch__on_a_terminal__is_a_live_table(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    server.on(
        "GET", "/jobs/7", Answer(job("running", position=1)), Answer(job("completed", "Fail", position=2))
    )
    server.on("GET", "/recipes/12", recipe)
    server.on("GET", "/events", sent_events({"position": 2, "topic": "x", "subject": "recipe/12"}))
    result = run("watch", "7")
    assert result.exit_code == 1
    assert "\x1b[" in result.stdout
    assert "job 7: completed, Fail" in result.stdout
