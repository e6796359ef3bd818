"""Failures: the message, the advice, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.answers import QUEUE
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]


def test_refused__several_faults__each_on_its_own_line(server: LoopbackServer, run: Run) -> None:
    errors = [{"where": "job/a", "message": "is wrong"}, {"where": "job/b", "message": "too"}]
    server.on("GET", "/queue", Answer({"title": "Invalid input", "errors": errors}, 422))
    result = run("queue")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == ["Error: Invalid input", "  job/a: is wrong", "  job/b: too"]


def test_refused__for_machines__is_a_document_beside_the_output(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "No", "detail": "really"}, 409))
    result = run("queue", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    problem = {"title": "No", "detail": "really", "errors": [], "status": 409}
    assert json.loads(result.stderr) == {**problem, "advice": "This request changed nothing."}


def test_unreachable__any_command__says_what_to_do_next(server: LoopbackServer, run: Run) -> None:
    server.httpd.socket.close()
    result = run("queue")
    assert result.exit_code == 1
    assert "script/up --demo" in result.stderr and "LABLEDGER_URL" in result.stderr
    assert "Tried 5 times" in result.stderr


def test_token__wrong__advice_names_the_options(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "Who are you?"}, 401))
    assert "--token" in run("queue").stderr


@pytest.mark.parametrize(
    ("status", "detail", "said"),
    [
        (401, "unknown token", "--token or LABLEDGER_TOKEN"),
        (403, "PUT /users/{name} is for admin", "labledger whoami"),
        (404, "job 99", "`labledger jobs` to list"),
        (404, "recipe set 99", "`labledger jobs` to list"),
        (404, "distro tree 99", "`labledger distro-trees` to list"),
        (404, "there is no resource at this path", ""),
        (409, "system/a is busy", "This request changed nothing"),
        (412, "it is at version 4", "Look at it again"),
        (429, "30 requests a second are allowed", "Tried 1 time. A limit is reached"),
        (429, "the quota is 9 bytes a day; the next day begins at 00:00", "at the time in the message"),
        (500, "request 1f failed", "an error of the server"),
        (503, "the database cannot be reached", "labledger overview"),
        (504, "not there yet", "Is a projector running?"),
    ],
)
def test_refused__by_status__says_what_to_do_next(
    server: LoopbackServer, run: Run, status: int, detail: str, said: str
) -> None:
    # A long Retry-After is reported at once.
    answer = Answer({"title": "No", "detail": detail}, status, {"Retry-After": "3600"})
    server.on("GET", "/queue", answer)
    result = run("queue")
    first, *advice = result.stderr.splitlines()
    assert (result.exit_code, first) == (1, f"Error: No: {detail}")
    assert said in " ".join(advice) and len(advice) <= 1


def test_no_token__one_is_needed__advice_names_the_options(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue", Answer({"title": "Unauthorized"}, 401))
    said = run("queue", env={"LABLEDGER_TOKEN": None}).stderr
    assert "labledger login" in said and "LABLEDGER_TOKEN" in said
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["sistems"], "`main systems`"),
        (["jobz"], "`main jobs`"),
        (["system", "drian"], "`main system drain`"),
        (["replay", "rebiuld"], "`main replay rebuild`"),
        (["system", "a.example.com"], "`main system show a.example.com`"),
        (["queue", "--limt", "3"], "--limit"),
        (["help"], "`main --help`"),
        (["help", "jobs"], "`main --help`"),
        (["version"], "`main --version`"),
        (["system", "help"], "`main system --help`"),
    ],
)
def test_typo__similar_command__is_suggested(run: Run, arguments: list[str], meant: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert meant in result.stderr


@pytest.mark.parametrize("below", ["", "data"])
def test_up__data_folder_that_is_a_file__says_so(run: Run, tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    result = run("up", "--data", str(file / below))
    assert result.exit_code == 1
    assert f"{file} is a file" in result.stderr and "unexpected" not in result.stderr
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"other": 1}'])
def test_answer__not_of_a_labledger__is_an_error_without_traceback(
    server: LoopbackServer, run: Run, body: bytes
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
        ["watch"],  # Not a job id.
        ["watch", "seven"],
        ["submit", "/no/such/file.xml"],
        ["queue", "--limit", "0"],
        ["queue", "--as-of", "lately"],
        ["queue", "--url", "gopher://x"],  # An invalid setting.
        ["lab", "simulate", "--speed", "0"],
    ],
)
def test_usage__wrong__exit_status_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize(("value", "raised"), [("yes", True), ("no", False), ("perhaps", False), ("", False)])
def test_unexpected_error__traceback__only_on_request(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str, raised: bool
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("who would have thought")

    monkeypatch.setattr("cli.remote.connect", broken)
    result = run("queue", env={"LABLEDGER_TRACEBACK": value})
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError) == raised
    assert ("unexpected RuntimeError: who would have thought" in result.stderr) != raised


def test_connection_file__no_flags__is_used(server: LoopbackServer, run: Run, tmp_path: Path) -> None:
    content = json.dumps({"url": server.url, "token": "ll_kept"})
    (tmp_path / "connection.json").write_text(content, encoding="utf-8")
    server.on("GET", "/queue", Answer(QUEUE))
    assert run("queue", env={"LABLEDGER_URL": None, "LABLEDGER_TOKEN": None}).exit_code == 0
    assert server.asked[0].headers["Authorization"] == "Bearer ll_kept"


def test_data__without_connection_file__no_other_server_is_used(run: Run) -> None:
    result = run("queue", "--data", "/nonexistent", env={"LABLEDGER_URL": None})
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: /nonexistent/connection.json cannot be read")
