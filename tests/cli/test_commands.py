"""The commands against a scripted server: what people and machines see, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from api.client import Client
from tests.cli.loopback import Answer, Server, sent_events

Run = Callable[..., Result]

RECIPE = {
    "recipe_id": 12,
    "recipe_set_id": 3,
    "job_id": 7,
    "state": "queued",
    "priority": "High",
    "owner": "alice",
}
QUEUE = {"position": 4, "recipes": [RECIPE], "next": None}
SYSTEM = {"fqdn": "a.example.com", "condition": "Broken", "pools": ["big", "small"], "recipe_id": None}


def test_list__for_people__is_a_table(server: Server, run: Run) -> None:
    server.on("GET", "/queue", Answer(QUEUE))
    result = run("queue")
    assert result.exit_code == 0
    heading, _, row = result.stdout.strip().splitlines()
    assert heading.split()[:4] == ["recipe", "set", "job", "state"]
    assert row.split()[:5] == ["12", "3", "7", "queued", "High"]


def test_list__for_machines__is_the_document(server: Server, run: Run) -> None:
    server.on("GET", "/queue", Answer(QUEUE))
    result = run("queue", "--json")
    assert json.loads(result.stdout) == QUEUE


def test_list__in_a_pipe__is_not_cut_off(server: Server, run: Run) -> None:
    long = {**RECIPE, "whiteboard": "word " * 60 + "end"}
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": [long]}))
    assert "word word end" in run("queue").stdout


def test_list__text_of_others__cannot_steer_the_terminal(server: Server, run: Run) -> None:
    nasty = {**RECIPE, "whiteboard": "\x1b[2J[red]hello[/red]\nnext"}
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": [nasty]}))
    output = run("queue").stdout
    assert "\x1b" not in output
    assert "[2J[red]hello[/red] next" in output


@pytest.mark.parametrize(
    ("command", "path", "name"),
    [
        ("queue", "/queue", "recipes"),
        ("idle", "/idle-pool", "systems"),
        ("systems", "/systems", "systems"),
        ("jobs", "/jobs", "jobs"),
    ],
)
def test_list__empty__says_so(server: Server, run: Run, command: str, path: str, name: str) -> None:
    server.on("GET", path, Answer({"position": 0, name: [], "next": None}))
    result = run(command)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 1)


def test_list__as_of__is_asked_as_of_then(server: Server, run: Run) -> None:
    server.on("GET", "/systems", Answer({"position": 9, "systems": [SYSTEM], "next": None}))
    assert "big, small" in run("systems", "--as-of", "9").stdout
    assert server.asked[0].query["as_of"] == ["9"]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("2026-11-21 12:02:50", "2026-11-21T12:02:50+00:00"),  # as the tables print it
        ("2026-11-21T12:02:50.5Z", "2026-11-21T12:02:50.500000+00:00"),  # as the API answers it
        ("2026-11-21T12:02:50+02:00", "2026-11-21T10:02:50+00:00"),
        ("20261121", "20261121"),  # a position
    ],
)
def test_list__as_of_a_time__is_taken_as_it_is_printed(
    server: Server, run: Run, given: str, asked: str
) -> None:
    server.on("GET", "/queue", Answer({**QUEUE, "position": 20261121, "as_of": "2026-11-21T12:02:50Z"}))
    assert run("queue", "--as-of", given).exit_code == 0
    assert server.asked[0].query["as_of"] == [asked]


def test_list__as_of_no_time__shows_how_one_is_written(server: Server, run: Run) -> None:
    assert "yesterday 14:00" in run("queue", "--as-of", "lately").stderr
    assert not server.asked


@pytest.mark.parametrize("asked", ["2100-01-01", "in 2h", "99"])
def test_list__as_of_what_is_still_to_come__is_wrong_usage(server: Server, run: Run, asked: str) -> None:
    now = datetime.now(UTC).isoformat()
    server.on("GET", "/queue", Answer({**QUEUE, "as_of": now}))
    server.on("GET", "/events", Answer({"events": []}))
    result = run("queue", "--as-of", asked)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "still to come" in result.stderr


def test_list__as_of_a_position_inside_a_commit__is_no_future(server: Server, run: Run) -> None:
    server.on("GET", "/queue", Answer({**QUEUE, "position": 97}))
    server.on("GET", "/events", Answer({"events": [_event(100)]}))
    assert run("queue", "--as-of", "99").exit_code == 0
    assert server.asked_for("GET", "/events")[0].query["after"] == ["98"]


def test_list__as_of__lasted_until_then(server: Server, run: Run) -> None:
    idle = {"fqdn": "a.example.com", "since": "2026-01-01T00:00:00Z"}
    then = {"position": 9, "as_of": "2026-01-01T00:01:15Z", "next": None}
    server.on("GET", "/idle-pool", Answer({**then, "systems": [idle]}))
    assert "1m 15s" in run("idle", "--as-of", "9").stdout
    server.on("GET", "/queue", Answer({**then, "recipes": [{**RECIPE, "since": idle["since"]}]}))
    assert "1m 15s" in run("queue", "--as-of", "9").stdout
    history = [{"state": "queued", "since": idle["since"], "until": None}]
    server.on("GET", "/recipes/12", Answer({**RECIPE, **then, "history": history, "tasks": []}))
    assert "1m 15s" in run("recipe", "12", "--as-of", "9").stdout


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


def test_token_create__standard_output_is_the_token_alone(server: Server, run: Run) -> None:
    server.on("POST", "/tokens", Answer({"token": "ll_new", "token_id": "1"}, 201))
    result = run("token", "create", "lab", "--role", "lab-controller", "--lab-controller", "l.example.com")
    assert result.stdout == "ll_new\n"
    body = {"user": "lab", "role": "lab-controller", "lab_controller": "l.example.com"}
    assert server.asked[0].json() == body


def test_cancel__a_job__tells_the_reason(server: Server, run: Run) -> None:
    server.on("POST", "/jobs/7/cancel", Answer({"job_id": 7}))
    assert run("cancel", "7", "--reason", "wrong kernel").exit_code == 0
    assert server.asked[0].json() == {"reason": "wrong kernel"}


def test_system__shown__leaves_out_what_nobody_knows(server: Server, run: Run) -> None:
    server.on("GET", "/systems/a.example.com", Answer({**SYSTEM, "vendor": None, "cpu": {"cores": 4}}))
    lines = run("system", "show", "a.example.com").stdout.splitlines()
    assert lines == [
        "fqdn: a.example.com",
        "condition: Broken",
        "pools: big, small",
        "cpu: cores=4",
    ]


def test_systems__draining_and_reserved__say_so(server: Server, run: Run) -> None:
    busy = {**SYSTEM, "draining": True, "user": "bob"}
    server.on("GET", "/systems", Answer({"position": 9, "systems": [busy], "next": None}))
    assert "Broken, draining" in (shown := run("systems").stdout) and "bob" in shown


def test_lab_controllers__listed__when_they_were_heard(server: Server, run: Run) -> None:
    row = {"fqdn": "l.b", "enabled": True, "silent": False, "last_heard_at": "2026-01-01T00:00:00Z"}
    server.on("GET", "/lab-controllers", Answer({"position": 1, "lab_controllers": [row], "next": None}))
    assert run("lab-controllers").stdout.splitlines()[-1].split()[:3] == ["l.b", "enabled", "2026-01-01"]


def test_recipe__shows_its_history(server: Server, run: Run) -> None:
    history = [
        {"state": "new", "since": "2026-01-01T00:00:00Z", "until": "2026-01-01T00:01:15Z"},
        {"state": "aborted", "since": "2026-01-01T00:01:15Z", "until": None, "reason": "no such distro"},
    ]
    server.on("GET", "/recipes/12", Answer({**RECIPE, "history": history, "tasks": []}))
    output = run("recipe", "12").stdout
    assert "1m 15s" in output
    assert "no such distro" in output


def test_recipe__shows_what_it_asked_for_and_what_it_installs(server: Server, run: Run) -> None:
    tree = {"id": 4, "name": "Fedora-44", "variant": "Server", "arch": "aarch64", "urls": {}}
    shown = {**RECIPE, "group": None, "whiteboard": "smoke", "distro_tree": tree}
    server.on("GET", "/recipes/12", Answer({**shown, "deadline": "2026-01-01T00:00:00Z"}))
    lines = run("recipe", "12").stdout.splitlines()
    assert lines[2:] == [
        "  recipe set: 3",
        "  priority: High",
        "  owner: alice",
        "  whiteboard: smoke",
        "  distro tree: Fedora-44 Server aarch64 (4)",
        "  state: queued",
        "  deadline: 2026-01-01 00:00:00 UTC",
    ]


def _event(position: int, **data: Any) -> dict[str, Any]:
    event = {"position": position, "topic": "recipe.scheduled", "subject": "recipe/12", "data": data}
    return {**event, "at": "2026-01-01T00:00:00Z", "actor": "scheduler"}


def test_events__recorded__are_read_to_the_end(server: Server, run: Run) -> None:
    # A page may have no events: of these topics there are none in that part of the log.
    pages = [([_event(1, system="a.example.com")], 5), ([], 9), ([_event(12, basis=1)], None)]
    server.on("GET", "/events", *(Answer({"events": page, "next": after}) for page, after in pages))
    first, second = run("events", "--types", "recipe.scheduled,recipe.queued").stdout.splitlines()
    assert first.split()[:2] == ["1", "2026-01-01"]
    assert first.endswith("recipe/12                           scheduler     system=a.example.com")
    assert second.endswith("scheduler")
    assert [asked.query["after"] for asked in server.asked] == [["0"], ["5"], ["9"]]
    assert server.asked[0].query["types"] == ["recipe.scheduled", "recipe.queued"]


def test_events__followed__one_document_a_line(server: Server, run: Run) -> None:
    server.on("GET", "/events", sent_events(_event(5), _event(6)))
    lines = run("events", "--follow", "--after", "4", "--limit", "2", "--json").stdout.splitlines()
    assert [json.loads(line)["position"] for line in lines] == [5, 6]


@pytest.mark.parametrize(("flags", "called"), [(["--follow"], "events"), ([], "get")])
def test_events__interrupted__ends_without_a_word(
    run: Run, monkeypatch: pytest.MonkeyPatch, flags: list[str], called: str
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, called, interrupted)
    result = run("events", *flags)
    assert (result.exit_code, result.output) == (130, "")


def test_start__no_command_talks_yet__nothing_heavy_is_imported() -> None:
    """Start-up is felt at every call."""
    script = "import sys, api.cli; api.cli.main(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"rich", "httpx", "falcon", "psycopg", "pydantic", "lxml"}
