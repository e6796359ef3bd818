"""`labledger overview`: its sums, its screen, and a service that is not ready."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from api.client import Client
from cli.overview.facts import DOING, doing, labs_of, queue_of, sets_of
from cli.overview.reading import MAX_PROBLEMS, WINDOWS, OverviewReader
from cli.overview.screen import MARKS, OverviewScreen
from domain.system.lifecycle import CONDITIONS, USAGE
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest

Run = Callable[..., Result]

LAB = {"fqdn": "lab.a.example.com", "enabled": True, "silent": False, "last_heard_at": "2026-01-01T00:00:00Z"}


def system(name: str, condition: str = "Automated", usage: str = "idle", **more: Any) -> dict[str, Any]:
    fqdn = f"{name}.a.example.com"
    fields = {"fqdn": fqdn, "lab_controller": LAB["fqdn"], "condition": condition, "usage": usage}
    return {**fields, "draining": False, "user": None, "recipe_id": None, **more}


def waiting(recipe_id: int, priority: str, minute: int) -> dict[str, Any]:
    since = f"2026-01-01T00:{minute:02}:00Z"
    return {"recipe_id": recipe_id, "job_id": 7, "priority": priority, "since": since, "owner": "alice"}


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        (system("x"), "idle"),
        (system("x", usage="pending"), "idle"),
        (system("x", usage="waiting"), "starting"),
        (system("x", usage="running", draining=True), "running"),  # Draining.
        (system("x", "Broken", "running"), "running"),
        (system("x", "Broken", draining=True), "broken"),
        (system("x", draining=True), "draining"),
        (system("x", "Manual"), "manual"),
        (system("x", "Manual", "running", user="bob"), "had_by_people"),
        (system("x", "Removed"), None),
        (system("x", "Removed", "running"), "running"),
    ],
)
def test_doing__any_condition_and_usage__is_one_word_for_both(
    fields: dict[str, Any], what: str | None
) -> None:
    assert doing(fields) == what


systems = st.lists(
    st.builds(
        lambda **fields: {"fqdn": "x", "lab_controller": "l", **fields},
        condition=st.sampled_from(CONDITIONS),
        usage=st.sampled_from(USAGE.states),
        draining=st.booleans(),
        user=st.none() | st.just("bob"),
    )
)


@given(systems)
def test_labs__whatever_their_systems_do__every_system_is_counted_once(systems: list[dict[str, Any]]) -> None:
    counted = sum(1 for one in systems if doing(one) is not None)
    for lab in labs_of([], systems):
        assert sum(lab["doing"].values()) == lab["systems"] == counted
    assert set(MARKS) == set(DOING)


def test_labs__disabled_silent_or_empty__are_shown() -> None:
    silent = {**LAB, "silent": True}
    controllers = [
        LAB,
        {**silent, "fqdn": "lab.b", "enabled": False},
        {**silent, "fqdn": "lab.c", "never_heard": True, "last_heard_at": None},
        # Answers about the past have no contacts, nor do databases whose contacts were lost.
        {**silent, "fqdn": "lab.d", "never_heard": False, "last_heard_at": None},
        # The scheduler has not answered its first contact yet.
        {**silent, "fqdn": "lab.e", "never_heard": True},
    ]
    states = {lab["lab_controller"]: lab["state"] for lab in labs_of(controllers, [system("x")])}
    assert states == {
        "lab.a.example.com": "enabled",
        "lab.b": "disabled, silent",
        "lab.c": "never heard",
        "lab.d": "silent",
        "lab.e": "silent",
    }


def test_queue__waits__by_priority_and_the_longest() -> None:
    recipes = [waiting(1, "Urgent", 50), waiting(2, "Normal", 5), waiting(3, "Normal", 40)]
    queue = queue_of(recipes, "2026-01-01T01:00:00Z")
    assert queue["longest"]["recipe_id"] == 2
    assert queue["by_priority"] == {
        "Urgent": {"recipes": 1, "longest_wait_seconds": 600.0},
        "Normal": {"recipes": 2, "longest_wait_seconds": 3300.0},
    }
    assert queue_of([], "2026-01-01T01:00:00Z")["longest"] is None


def test_sets__of_recipes__have_their_systems_together() -> None:
    recipes = [
        {"recipe_id": number, "recipe_set_id": 5, "job_id": 7, "usage": "running", "system": f"s{number}"}
        for number in (3, 2)
    ]
    (only,) = sets_of(recipes)
    assert (only["recipes"], only["systems"]) == (2, ["s2", "s3"])


@pytest.fixture
def lab(server: LoopbackServer) -> LoopbackServer:
    """Script a lab with one of every category."""
    systems = [
        system("run", usage="running", recipe_id=12),
        system("idle"),
        system("bad", "Broken", owner="alice"),
        system("other", "Broken", owner="bob"),
        system("kept", "Manual", "running", user="bob"),
    ]
    checks = {"database": {"ok": True, "writable": True}, "read_models": {"ok": True, "lag_events": 0}}
    server.on("GET", "/readyz", Answer({"ready": True, "checks": checks}))
    server.on("GET", "/systems", Answer({"position": 9, "systems": systems, "next": None}))
    server.on("GET", "/lab-controllers", Answer({"position": 9, "lab_controllers": [LAB], "next": None}))
    server.on("GET", "/queue", Answer({"position": 9, "recipes": [waiting(15, "High", 0)], "next": None}))
    recipe = {"recipe_id": 12, "recipe_set_id": 4, "job_id": 7, "priority": "Urgent", "owner": "alice"}
    server.on("GET", "/recipes/12", Answer({**recipe, "whiteboard": "smoke"}))
    server.on("GET", "/whoami", Answer({"user": "alice"}))
    server.on("GET", "/partitions", partition_in("active"))
    server.on("GET", "/events", _events)
    return server


def partition_in(state: str) -> Answer:
    return Answer({"position": 9, "partitions": [{"name": "default", "state": state}]})


def _events(asked: ReceivedRequest) -> Answer:
    """Answer the changed conditions of one system, or all events."""
    if asked.query.get("subject") == ["system/bad.a.example.com"]:
        became = [
            _event(number, "system.condition-changed", condition="Broken", reason=reason)
            for number, reason in ((2, "old"), (3, "a power command failed: no answer"))
        ]
        return Answer({"events": became, "next": None})
    return Answer({"events": [_event(4, "recipe.aborted", reason="no tree")], "next": None})


def _event(position: int, topic: str, **data: Any) -> dict[str, Any]:
    at = "2026-01-01T00:00:00Z"
    return {"position": position, "topic": topic, "subject": f"recipe/{position}", "at": at, "data": data}


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
    queue, stopped = {"row": "queue", "reason": "full"}, {"row": "queue-state", "reason": "stopped"}
    recipes = [
        {**waiting(15, "High", 0), "held_back": [queue, queue, stopped]},
        {**waiting(16, "High", 0), "held_back": [queue]},
        {**waiting(17, "High", 0), "held_back": []},
        {**waiting(18, "High", 0), "held_back": None},
    ]
    lab.on("GET", "/queue", Answer({"position": 9, "recipes": recipes, "next": None}))
    assert "  2 recipes held back: queue 2, queue-state 1; `labledger queue`" in run("overview").stdout


def headings(text: str) -> list[list[str]]:
    return [words for words in map(str.split, text.splitlines()) if words[:1] in (["lab"], ["set"])]


def test_overview__several_partitions__labs_and_sets_show_theirs(lab: LoopbackServer, run: Run) -> None:
    assert not [words for words in headings(run("overview").stdout) if "partition" in words]
    labs = [{**LAB, "partition": "west"}, {**LAB, "fqdn": "lab.b.example.com", "partition": None}]
    lab.on("GET", "/lab-controllers", Answer({"position": 9, "lab_controllers": labs, "next": None}))
    recipe = {"recipe_id": 12, "recipe_set_id": 4, "job_id": 7, "priority": "Urgent", "partition": "west"}
    lab.on("GET", "/recipes/12", Answer(recipe))
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
    busy["labs"] = [{**many, "state": "disabled, silent", "doing": {**many["doing"], "draining": 3}}]
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
    for path in ("/readyz", "/systems"):
        lab.on("GET", path, Answer({"title": "No", "detail": "the database cannot be reached"}, 503))
    result = run("overview", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["detail"] == "No: the database cannot be reached"
    assert len(lab.asked_for("GET", "/systems")) == 1


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
    lab.on("GET", "/partitions", partition_in(state))
    third = run("overview").stdout.splitlines()[2]
    assert third.startswith(printed) if printed else third == ""


def test_reading__again__requests_only_changeable_parts(lab: LoopbackServer) -> None:
    with Client(lab.url) as client:
        reading = OverviewReader(client)
        reading.document()
        lab.on("GET", "/events", Answer({"events": [_event(11, "recipe.aborted")], "next": None}))
        lab.on("GET", "/systems", Answer({"position": 12, "systems": [], "next": None}))
        lately = reading.document()["lately"]
        reading.close()
    assert [event["position"] for event in lately] == [11, 4]
    assert len(lab.asked_for("GET", "/recipes/12")) == 1
    assert lab.asked_for("GET", "/events")[-1].query["after"] == ["9"]


def test_reading__long_log__searches_backwards_until_there_is_enough(lab: LoopbackServer) -> None:
    def events(asked: ReceivedRequest) -> Answer:
        after = int(asked.query["after"][0])
        found = [_event(at, "recipe.aborted") for at in range(after + 1, after + 4)] if after < 90_000 else []
        changed = _event(after + 9, "system.condition-changed", condition="Automated")
        return Answer({"events": [*found, changed], "next": None})

    lab.on("GET", "/systems", Answer({"position": 100_000, "systems": [], "next": None}))
    lab.on("GET", "/events", events)
    with Client(lab.url) as client:
        reading = OverviewReader(client)
        lately = reading.document()["lately"]
        reading.close()
    assert 0 < len(lately) <= MAX_PROBLEMS and all(event["topic"] == "recipe.aborted" for event in lately)
    asked = [int(one.query["after"][0]) for one in lab.asked_for("GET", "/events")]
    assert asked == [max(0, 100_000 - window) for window in WINDOWS]
