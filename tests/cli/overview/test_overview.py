"""`labledger overview`: its screen, and a service that is not ready."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result
from rich.console import Console

from api.rest.contract.answers.overview import SystemActivities
from cli.overview.screen import MARKS, OverviewScreen
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

DOING = dict.fromkeys(MARKS, 0)
LAB = {
    "lab_controller": "lab.a.example.com",
    "partition": "default",
    "enabled": True,
    "silent": False,
    "never_heard": False,
    "last_heard_at": "2026-01-01T00:00:00Z",
    "systems": 5,
    "doing": {**DOING, "running": 1, "idle": 1, "broken": 2, "had_by_people": 1},
}
OLDEST = {"recipe_id": 15, "job_id": 7, "owner": "alice", "priority": "High", "wait_seconds": 600.0}
PLACED = {
    "recipe_set_id": 4,
    "job_id": 7,
    "partition": "default",
    "priority": "Urgent",
    "owner": "alice",
    "group": None,
    "whiteboard": "smoke",
    "recipes": 1,
    "usage": ["running"],
    "systems": ["run.a.example.com"],
}
BROKEN = {
    "fqdn": "bad.a.example.com",
    "owner": "alice",
    "at": "2026-01-01T00:00:00Z",
    "reason": "a power command failed: no answer",
}


def overview(**changes: Any) -> dict[str, Any]:
    """Return an answer about a lab with one of every category."""
    return {
        "position": 9,
        "partitions": [{"name": "default", "state": "active"}],
        "labs": [LAB],
        "all_labs": {"systems": LAB["systems"], "doing": LAB["doing"]},
        "queue": {
            "recipes": 1,
            "by_priority": {"High": {"recipes": 1, "longest_wait_seconds": 600.0}},
            "oldest": [OLDEST],
            "held_back_now": {},
        },
        "placed": {"recipes": 1, "recipe_sets": [PLACED], "not_shown": 0},
        "problems": [_event(4, "recipe.aborted", reason="no tree")],
        "broken": {"count": 2, "owned": 1, "systems": [BROKEN, {**BROKEN, "fqdn": "other.a.example.com"}]},
        "occupied": [],
        "jobs": [],
        "systems": {"count": 0, "systems": []},
        **changes,
    }


def _event(position: int, topic: str, **data: Any) -> dict[str, Any]:
    at = "2026-01-01T00:00:00Z"
    return {"position": position, "topic": topic, "subject": f"recipe/{position}", "at": at, "data": data}


@pytest.fixture
def lab(server: LoopbackServer) -> LoopbackServer:
    checks = {"database": {"ok": True, "writable": True}, "read_models": {"ok": True, "lag_events": 0}}
    server.on("GET", "/readyz", Answer({"ready": True, "checks": checks}))
    server.on("GET", "/overview", Answer(overview()))
    return server


def test_marks__of_activities__are_complete() -> None:
    assert tuple(MARKS) == tuple(SystemActivities.model_fields)


def test_overview__for_people__shows_every_part(lab: LoopbackServer, run: Run) -> None:
    result = run("overview")
    assert result.exit_code == 0
    text = result.stdout
    for said in (
        *("ready, database ok", "lab.a.example.com", "1 running", "2 broken", "1 had by people"),
        *("1 system of yours", "bad.a.example.com", "a power command failed: no answer"),
        *("1 recipe unplaced", "recipe 15 of job 7, alice", "High 1"),
        *("1 recipe in 1 recipe set", "run.a.example.com", "smoke"),
        *("recipe/4", "aborted", "no tree"),
    ):
        assert said in text, said


def test_overview__recipes_are_held_back__says_how_many_by_which_kind_of_rule(
    lab: LoopbackServer, run: Run
) -> None:
    assert "held back" not in run("overview").stdout
    queue = {**overview()["queue"], "held_back_now": {"queue": 2, "queue-state": 1}}
    lab.on("GET", "/overview", Answer(overview(queue=queue)))
    assert "  recipes held back: queue 2, queue-state 1; `labledger queue`" in run("overview").stdout


def test_overview__labs__have_the_words_of_their_states(lab: LoopbackServer, run: Run) -> None:
    silent = {**LAB, "silent": True}
    labs = [
        LAB,
        {**silent, "lab_controller": "lab.b", "enabled": False},
        {**silent, "lab_controller": "lab.c", "never_heard": True, "last_heard_at": None},
        # The scheduler has not answered its first contact yet.
        {**silent, "lab_controller": "lab.d", "never_heard": True},
    ]
    lab.on("GET", "/overview", Answer(overview(labs=labs)))
    lines = [" ".join(line.split()) for line in run("overview").stdout.splitlines()]
    for said in ("lab.a.example.com enabled", "lab.b disabled, silent", "lab.c never heard", "lab.d silent"):
        assert [line for line in lines if line.startswith(said)], said


def headings(text: str) -> list[list[str]]:
    return [words for words in map(str.split, text.splitlines()) if words[:1] in (["lab"], ["set"])]


def test_overview__several_partitions__labs_and_sets_show_theirs(lab: LoopbackServer, run: Run) -> None:
    assert not [words for words in headings(run("overview").stdout) if "partition" in words]
    labs = [
        {**LAB, "partition": "west"},
        {**LAB, "lab_controller": "lab.b.example.com", "partition": None},
    ]
    placed = {**overview()["placed"], "recipe_sets": [{**PLACED, "partition": "west"}]}
    lab.on("GET", "/overview", Answer(overview(labs=labs, placed=placed)))
    text = run("overview").stdout
    assert [words[:4] for words in headings(text)] == [
        ["lab", "controller", "partition", "state"],
        ["set", "job", "partition", "usage"],
    ]
    cells = [line.split()[:3] for line in text.splitlines()]
    assert ["lab.a.example.com", "west", "enabled"] in cells
    assert ["lab.b.example.com", "none", "enabled"] in cells
    assert ["4", "7", "west"] in cells


@pytest.mark.parametrize("width", [60, 80, 120])
def test_overview__on_a_terminal__no_line_is_longer(lab: LoopbackServer, run: Run, width: int) -> None:
    document = json.loads(run("overview", "--json").stdout)
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=True, color_system=None).print(OverviewScreen(document))
    assert max(map(len, file.getvalue().splitlines())) <= width


def drawn(document: dict[str, Any], width: int, widest: dict[str, dict[str, int]]) -> list[str]:
    file = io.StringIO()
    shown = Console(file=file, width=width, force_terminal=True, color_system=None)
    shown.print(OverviewScreen(document, widest))
    return file.getvalue().splitlines()


def test_overview__redrawn_with_less_text__columns_keep_their_widths(lab: LoopbackServer, run: Run) -> None:
    now = json.loads(run("overview", "--json").stdout)
    (many,) = now["labs"]
    long = {**now["placed"]["recipe_sets"][0], "systems": [f"{'long' * 8}.a.example.com"], "owner": "o" * 20}
    busy = {**now, "placed": {**now["placed"], "recipe_sets": [long]}}
    busy["labs"] = [{**many, "enabled": False, "silent": True, "doing": {**many["doing"], "draining": 3}}]
    for width in (60, 80, 100):
        widest: dict[str, dict[str, int]] = {}
        headings = [
            [line for line in drawn(document, width, widest) if line.split()[:1] in (["lab"], ["set"])]
            for document in (busy, now, busy)
        ]
        assert headings[0] == headings[1] == headings[2]


def test_overview__narrow_terminal__names_the_columns_not_shown(lab: LoopbackServer, run: Run) -> None:
    document = json.loads(run("overview", "--json").stdout)
    assert not [line for line in drawn(document, 100, {}) if "not shown" in line]
    words = " ".join(" ".join(drawn(document, 40, {})).split())
    assert "columns not shown: recipes, priority, systems, whiteboard" in words


def test_overview__labs__have_all_they_do_on_every_terminal(lab: LoopbackServer, run: Run) -> None:
    document = json.loads(run("overview", "--json").stdout)
    for width in (60, 80, 200):
        words = " ".join(" ".join(drawn(document, width, {})).split())
        for said in ("1 running", "1 had", "1 idle", "2 broken"):
            assert said in words.partition("█")[0], said


def test_overview__service_not_ready__says_which_check_fails(lab: LoopbackServer, run: Run) -> None:
    checks = {"database": {"ok": True}, "scheduler": {"ok": False, "detail": "host/7 hangs"}}
    lab.on("GET", "/readyz", Answer({"title": "No", "detail": "not ready: scheduler", "checks": checks}, 503))
    result = run("overview")
    assert result.exit_code == 1
    assert "not ready" in result.stdout and "scheduler FAILS (host/7 hangs)" in result.stdout
    assert "lab.a.example.com" in result.stdout


def test_overview__scheduler_of_one_partition_is_gone__names_the_partition(
    lab: LoopbackServer, run: Run
) -> None:
    partitions = {"default": {"ok": True}, "west": {"ok": False, "detail": "no scheduler holds the lease"}}
    checks = {"database": {"ok": True}, "scheduler": {"ok": True, "partitions": partitions}}
    lab.on("GET", "/readyz", Answer({"ready": True, "checks": checks}))
    result = run("overview")
    assert result.exit_code == 0
    assert "scheduler ok, partition west FAILS (no scheduler holds the lease)" in result.stdout


def test_overview__database_away__is_reported_at_once(lab: LoopbackServer, run: Run) -> None:
    for path in ("/readyz", "/overview"):
        lab.on("GET", path, Answer({"title": "No", "detail": "the database cannot be reached"}, 503))
    result = run("overview", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["detail"] == "No: the database cannot be reached"
    assert len(lab.asked_for("GET", "/overview")) == 1


def test_overview__no_server__is_a_failure(server: LoopbackServer, run: Run) -> None:
    server.httpd.socket.close()
    assert run("overview").exit_code == 1


@pytest.mark.parametrize(
    ("state", "printed"),
    [
        ("active", None),
        ("draining", "partition default is draining: no new jobs, what is there is granted"),
        ("stopped", "partition default is stopped: no new jobs, and nothing is granted"),
    ],
)
def test_overview__partition_takes_no_jobs__is_said_on_top(
    lab: LoopbackServer, run: Run, state: str, printed: str | None
) -> None:
    partitions = [{"name": "default", "state": state}]
    lab.on("GET", "/overview", Answer(overview(partitions=partitions)))
    third = run("overview").stdout.splitlines()[2]
    assert third.startswith(printed) if printed else third == ""
