"""What goes wrong: the message, what to do next, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.answers import QUEUE
from tests.cli.loopback import Answer, Server

Run = Callable[..., Result]


def test_refused__each_fault_on_its_own_line(server: Server, run: Run) -> None:
    errors = [{"where": "job/a", "message": "is wrong"}, {"where": "job/b", "message": "too"}]
    server.on("GET", "/queue", Answer({"title": "The input is wrong", "errors": errors}, 422))
    result = run("queue")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == ["Error: The input is wrong", "  job/a: is wrong", "  job/b: too"]


def test_refused__for_machines__is_a_document_beside_the_output(server: Server, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "No", "detail": "really"}, 409))
    result = run("queue", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    problem = {"title": "No", "detail": "really", "errors": [], "status": 409}
    assert json.loads(result.stderr) == {**problem, "advice": "Nothing was changed."}


def test_unreachable__says_what_to_do_next(server: Server, run: Run) -> None:
    server.httpd.socket.close()
    result = run("queue")
    assert result.exit_code == 1
    assert "script/up --demo" in result.stderr and "LABLEDGER_URL" in result.stderr
    assert "Asked 5 times" in result.stderr


def test_token__wrong__says_where_one_is_given(server: Server, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "Who are you?"}, 401))
    assert "--token" in run("queue").stderr


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"other": 1}'])
def test_answer__not_of_a_labledger__is_an_error_without_traceback(
    server: Server, run: Run, body: bytes
) -> None:
    server.on("GET", "/queue", Answer(body))
    result = run("queue")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["watch"],  # no job
        ["watch", "seven"],
        ["submit", "/no/such/file.xml"],
        ["queue", "--limit", "0"],
        ["queue", "--as-of", "lately"],
        ["queue", "--url", "gopher://x"],  # a setting that cannot be
        ["lab", "simulate", "--speed", "0"],
    ],
)
def test_usage__wrong__exit_status_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_connection_file__no_flags__is_used(server: Server, run: Run, tmp_path: Path) -> None:
    content = json.dumps({"url": server.url, "token": "ll_kept"})
    (tmp_path / "connection.json").write_text(content, encoding="utf-8")
    server.on("GET", "/queue", Answer(QUEUE))
    assert run("queue", env={"LABLEDGER_URL": None, "LABLEDGER_TOKEN": None}).exit_code == 0
    assert server.asked[0].headers["Authorization"] == "Bearer ll_kept"


def test_data__without_connection_file__is_not_looked_for_elsewhere(run: Run) -> None:
    result = run("queue", "--data", "/nonexistent", env={"LABLEDGER_URL": None})
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: /nonexistent/connection.json cannot be read")
