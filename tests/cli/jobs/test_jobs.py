"""Commands about jobs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from api.client import Client
from cli.jobs.job_files import content_type
from tests.cli.answers import RECIPE, SYSTEM
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest, sent_events

Run = Callable[..., Result]

SUBMITTED = {"job_id": 7, "recipe_set_ids": [3], "recipe_ids": [12]}


def job(state: str, result: str = "None", position: int = 1) -> dict[str, Any]:
    recipe = {"recipe_id": 12, "state": state, "result": result, "system": "a", "whiteboard": "", "tasks": []}
    sets = [{"recipe_set_id": 3, "state": state, "result": result, "recipes": [recipe]}]
    return {"job_id": 7, "state": state, "result": result, "recipe_sets": sets, "position": position}


def recipe(_: ReceivedRequest | None) -> Answer:
    history = [{"state": "queued", "since": "2026-01-01T00:00:00Z", "until": None}]
    return Answer({"recipe_id": 12, "state": "queued", "system": "a", "history": history})


FOUND = {"since": "2026-01-01T00:02:00Z"}
REASON_NOTE = "reason of recipe 12: found 2026-01-01 00:02:00 (UTC); the present one: labledger explain 12\n"


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
    errors = [{"where": "jobs[0]: line 1", "message": "no job"}]
    refused, taken = (
        {"status": 422, "title": "Wrong", "errors": errors},
        {**SUBMITTED, "status": 201, "warnings": []},
    )
    server.on("POST", "/jobs", Answer({"position": 9, "jobs": [refused, taken]}))
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


def test_watch__in_a_pipe__says_why_a_queued_recipe_waits(server: LoopbackServer, run: Run) -> None:
    reason = 'paused by the job filter "night": no [bold] storage before the end of the service of tonight'
    server.on("GET", "/jobs/7", Answer(job("queued", position=1)), Answer(job("aborted", position=2)))
    server.on("GET", "/recipes/12", lambda _: Answer({**recipe(_).body, "reason": reason, **FOUND}))
    server.on(
        "GET", "/events", sent_events({"position": 2, "topic": "recipe.aborted", "subject": "recipe/12"})
    )
    watched = run("watch", "7")
    assert watched.stdout.splitlines()[:2] == [
        f"job 7 queued: recipe 12 queued ({reason})",
        "job 7 aborted: recipe 12 aborted",
    ]
    assert watched.stderr == ""


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


@pytest.mark.parametrize(
    ("state", "reason", "note"),
    [
        ("queued", "no idle system is viable", True),
        ("queued", None, False),
        ("aborted", "no system matches the host requirements", False),  # This one is final.
    ],
)
@pytest.mark.parametrize("command", ["job 7", "recipe 12"])
def test_reason__of_a_queued_recipe__is_shown_with_its_time_and_the_command_for_the_present_one(
    server: LoopbackServer, run: Run, command: str, state: str, reason: str | None, note: bool
) -> None:
    shown = {**recipe(None).body, "state": state, "reason": reason, **FOUND}
    server.on("GET", "/jobs/7", Answer(job(state)))
    server.on("GET", "/recipes/12", Answer(shown))
    result = run(*command.split())
    assert (result.exit_code, result.stderr) == (0, REASON_NOTE if note else "")
    assert run(*command.split(), "--json").stderr == ""


def test_watch__on_a_terminal__has_the_time_of_the_reason(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(Client, "events", _interrupted)
    server.on("GET", "/jobs/7", Answer(job("queued")))
    server.on("GET", "/recipes/12", lambda _: Answer({**recipe(_).body, "reason": "no idle system", **FOUND}))
    assert "reason of recipe 12: found 2026-01-01 00:02:00 (UTC)" in run("watch", "7").stdout


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


def test_token_create__standard_output__is_the_token_alone(server: LoopbackServer, run: Run) -> None:
    server.on("POST", "/tokens", Answer({"token": "ll_new", "token_id": "1"}, 201))
    result = run("token", "create", "lab", "--role", "lab-controller", "--lab-controller", "l.example.com")
    assert result.stdout == "ll_new\n"
    body = {"user": "lab", "role": "lab-controller", "lab_controller": "l.example.com"}
    assert server.asked[0].json() == body


def test_cancel__a_job__sends_the_reason(server: LoopbackServer, run: Run) -> None:
    server.on("POST", "/jobs/7/cancel", Answer({"job_id": 7}))
    assert run("cancel", "7", "--reason", "wrong kernel").exit_code == 0
    assert server.asked[0].json() == {"reason": "wrong kernel"}


def test_system__shown__leaves_out_empty_properties(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems/a.example.com", Answer({**SYSTEM, "vendor": None, "cpu": {"cores": 4}}))
    lines = run("system", "show", "a.example.com").stdout.splitlines()
    assert lines == ["fqdn: a.example.com", "condition: Broken", "pools: big, small", "cpu: cores=4"]


def test_recipe__was_in_several_states__shows_its_history(server: LoopbackServer, run: Run) -> None:
    history = [
        {"state": "new", "since": "2026-01-01T00:00:00Z", "until": "2026-01-01T00:01:15Z"},
        {"state": "aborted", "since": "2026-01-01T00:01:15Z", "until": None, "reason": "no such distro"},
    ]
    server.on("GET", "/recipes/12", Answer({**RECIPE, "history": history, "tasks": []}))
    output = run("recipe", "12").stdout
    assert "1m 15s" in output
    assert "no such distro" in output


def test_recipe__waits__shows_its_request_and_its_distro_tree(server: LoopbackServer, run: Run) -> None:
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


def test_recipe__waits_for_its_locks__shows_them_with_a_note(server: LoopbackServer, run: Run) -> None:
    network = {"network": ["AllShared", {"Exclusive": ["n1", "n2"]}], "whole_lab": True}
    locks = {"declared": network, "held": None}
    waits = {"state": "waiting", "awaits_locks": True}
    history = [{**waits, "since": "2026-01-01T00:00:00Z", "until": None}]
    server.on("GET", "/recipes/12", Answer({**RECIPE, **waits, "locks": locks, "history": history}))
    output = run("recipe", "12").stdout
    assert "  state: waiting\n  note: waits for its resource locks\n" in output
    assert "  declared locks: network=AllShared network=Exclusive:n1,n2 whole_lab\n" in output
    assert "held locks" not in output
    assert output.count("waits for its resource locks") == 2

    held = {"awaits_locks": False, "locks": {**locks, "held": {"network": {"Shared": ["n1"]}}}}
    server.on("GET", "/recipes/12", Answer({**RECIPE, **waits, **held}))
    output = run("recipe", "12").stdout
    assert "  held locks: network=Shared:n1\n" in output
    assert "note" not in output


def test_flag__of_a_whole_number__shows_its_bounds(run: Run) -> None:
    shown = " ".join(run("up", "--help").stdout.split())
    assert "--port INTEGER" in shown and "(LABLEDGER_PORT) [0 to 65535]" in shown


@pytest.mark.parametrize(
    "arguments", [["--help"], ["queue", "--help"], ["system", "show", "--help"], ["overview", "--help"]]
)
def test_start__command_without_a_request__imports_nothing_heavy(arguments: list[str]) -> None:
    """Slow imports would delay every call."""
    script = f"import sys, cli; cli.main({arguments}, standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"rich", "httpx", "falcon", "psycopg", "pydantic", "lxml"}


JOB = b"<job/>"
WHERE = "recipe_sets[0].recipes[0]"
FILTER, ARCH = "it does not match the host requirements", "it does not have the architecture"


def system(fqdn: str, *reasons: str) -> dict[str, Any]:
    return {"fqdn": fqdn, "viable": not reasons, "reasons": list(reasons)}


SOME = [system("a"), system("b", FILTER), system("c"), system("d", ARCH, FILTER)]
NONE = [system("a", ARCH)]


def on(
    server: LoopbackServer, *recipes: tuple[str, list[dict[str, Any]]], why_never: str | None = None
) -> None:
    estimate = None if why_never else {"summary": "half of comparable recipes start within 5 min from now"}
    rows = [
        {
            "where": where,
            "systems": systems,
            "why_never": why_never,
            "estimate": estimate if where else None,
        }
        for where, systems in recipes
    ]
    server.on("POST", "/matches", Answer({"position": 7, "systems": recipes[0][1], "recipes": rows}))


def test_matches__of_a_job__names_viable_systems_and_counts_the_reasons_for_others(
    server: LoopbackServer, run: Run
) -> None:
    on(server, (WHERE, SOME))
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 0
    said = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert said[0] == ["2", "of 4 systems can run it"]
    assert said[1] == ["if", "it were submitted now: half of comparable recipes start within 5 min from now"]
    assert ["a"] in said and ["c"] in said and ["b"] not in said
    assert said[-2:] == [["2", FILTER], ["1", ARCH]]


def test_matches__every__shows_all_reasons_of_each_system(server: LoopbackServer, run: Run) -> None:
    on(server, (WHERE, SOME))
    said = run("matches", "-", "--every", "--limit", "3", input=JOB).stdout
    assert f"b       no          {FILTER}" in said
    assert "Showing the first 3 of 4; use --limit N for more." in said


def test_matches__recipe_without_a_viable_system__is_named_and_status_1(
    server: LoopbackServer, run: Run
) -> None:
    on(server, (WHERE, SOME), ("recipe_sets[0].recipes[1]", NONE))
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 1
    assert f"{WHERE}: 2 of 4 systems can run it" in result.stdout
    assert "recipe_sets[0].recipes[1]: 0 of 1 system can run it" in result.stdout


def test_matches__set_that_would_be_aborted__says_why_and_status_1(server: LoopbackServer, run: Run) -> None:
    on(server, (WHERE, SOME), why_never="no lab has enough viable systems for all recipes of the set at once")
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 1
    reason = "no lab has enough matching systems for all recipes of the set"
    assert f"if it were submitted now, its recipe set would be aborted: {reason}" in result.stdout
    assert "start within" not in result.stdout


def test_matches__of_host_requires_alone__asks_for_just_that(server: LoopbackServer, run: Run) -> None:
    on(server, ("", SOME))
    for alone in ("<hostRequires/>", "<?xml version='1.0'?>\n<!-- mine -->\n<hostRequires>\n</hostRequires>"):
        said = run("matches", "-", input=alone).stdout
        assert "2 of 4 systems match" in said and "submitted now" not in said
        assert server.asked_for("POST", "/matches")[-1].json() == {"host_requires_xml": alone}
    run("matches", "-", input=JOB)
    assert server.asked_for("POST", "/matches")[-1].body == JOB


def test_matches__refused__shows_every_fault(server: LoopbackServer, run: Run) -> None:
    fault = {"where": "line 2, <pool>", "message": 'value: there is no pool "bigg"'}
    refused = {"title": "Invalid input", "status": 422, "detail": "1 error", "errors": [fault]}
    server.on("POST", "/matches", Answer(refused, status=422))
    result = run("matches", "-", input=JOB)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "line 2, <pool>: value: there is no pool" in result.stderr
