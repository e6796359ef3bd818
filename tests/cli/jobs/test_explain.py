"""`labledger explain`, as people read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer
from tests.cli.pseudo_terminal import terminal

Run = Callable[..., Result]

OF = {
    "position": 40,
    "recipe_id": 12,
    "host_recipe_id": None,
    "recipe_set_id": 3,
    "job_id": 7,
    "owner": "ada",
    "group": None,
    "lab_controller": None,
    "system": None,
}
COUNTED = {"known": 3, "viable": 2, "usable": 2, "idle": 0, "not_allowed": 0, "lent": 0, "first_in_order": 1}
BUSY = {
    "fqdn": "a",
    "lab_controller": "lab-1",
    "verdict": "not now",
    "reasons": ["running with recipe 4"],
    "holder": {
        "usage": "running",
        "recipe_id": 4,
        "user": None,
        "since": "2026-01-01T00:00:00Z",
        "since_position": 9,
        "until": "2026-01-01T03:00:00Z",
        "until_by": "watchdog",
    },
    "effective_priority": "Medium",
    "before": 1,
    "ahead": [
        {
            "recipe_id": 11,
            "priority": "High",
            "effective_priority": "High",
            "by": "priority High before Normal",
            "priority_change": {
                "actor": "eve",
                "position": 31,
                "at": "2026-01-01T00:30:00Z",
                "was": "Low",
                "became": "High",
            },
        }
    ],
}
RULE = {"name": "access", "reason": "it may not be submitted there", "passes": 2, "left": 2}


def answer(**more: Any) -> Answer:
    return Answer({**OF, "waiting": None, "granted": None, **more})


def test_explain__waits_for_its_locks__shows_the_sets_in_its_way(server: LoopbackServer, run: Run) -> None:
    blocker = {"recipe_set_id": 3, "job_id": 2, "why": "holds conflicting locks"}
    since = {"since": "2026-01-01T00:30:00Z", "since_position": 31}
    locks = {"network": {"Exclusive": ["n1"]}}
    counts = {"overtaken": 8, "max_overtaken": 8, "waits_for_count": 2, "owed": True}
    locking = {"recipe_set_id": 5, "locks": locks, **since, **counts, "waits_for": [{**blocker, **since}]}
    shown = answer(state="waiting", summary="its recipe set waits for resource locks", locking=locking)
    server.on("GET", "/recipes/12/explanation", shown)
    lines = run("explain", "12", "--wide").stdout.splitlines()
    assert lines[0] == "recipe 12 is waiting: its recipe set waits for resource locks"
    assert "its set wants network=Exclusive:n1 since 2026-01-01 00:30:00" in lines
    assert "it was overtaken 8 of at most 8 times, and is owed its locks" in lines
    assert any(line.split()[:5] == ["3", "2", "holds", "conflicting", "locks"] for line in lines)
    assert "Showing the first 1 of 2." in lines


def test_explain__waits__shows_rules_systems_and_recipes_ahead(server: LoopbackServer, run: Run) -> None:
    waiting = {
        "rules": [RULE],
        "counted": COUNTED,
        "systems_count": 2,
        "systems": [BUSY, {**BUSY, "fqdn": "b", "before": 0}],
    }
    server.on("GET", "/recipes/12/explanation", answer(state="queued", summary="because", waiting=waiting))
    result = run("explain", "12", "--wide")
    assert result.exit_code == 0
    said = result.stdout
    assert said.startswith("recipe 12 is queued: because\n")
    assert "not now  running with recipe 4      1  Medium              2026-01-01 00:00:00" in said
    assert "2026-01-01 03:00:00, watchdog" in said
    change = "raised from Low to High by eve at 2026-01-01 00:30:00 (event 31)"
    assert f"11: priority High before Normal, {change}" in said
    assert "overtaken" not in said

    assert "access" in said and "--limit" not in said


def test_explain__set_is_held_back__shows_the_rows_before_all_systems(
    server: LoopbackServer, run: Run
) -> None:
    held_back = [
        {"row": "dependency", "reason": "job 17, its dependency, has not ended"},
        {"row": "job-filter", "reason": 'paused by the job filter "audit"'},
    ]
    waiting = {"rules": [RULE], "counted": COUNTED, "systems_count": 0, "systems": []}
    body = answer(state="queued", summary="because", waiting={**waiting, "held_back": held_back})
    server.on("GET", "/recipes/12/explanation", body)
    said = run("explain", "12").stdout
    places = [
        said.index(text) for text in (held_back[0]["reason"], held_back[1]["reason"], "excluded because")
    ]
    assert places == sorted(places)


def test_explain__set_was_overtaken__shows_count_and_bound(server: LoopbackServer, run: Run) -> None:
    waiting = {"rules": [RULE], "counted": COUNTED, "systems_count": 0, "systems": []}
    for bound, shown in ((8, "times that its set was overtaken: 3, at most 8\n"), (None, "overtaken: 3\n")):
        overtaken = {"count": 3, "bound": bound}
        body = answer(state="queued", summary="because", waiting={**waiting, "overtaken": overtaken})
        server.on("GET", "/recipes/12/explanation", body)
        assert shown in run("explain", "12").stdout


def test_explain__another_reason_than_the_holder__shows_both(server: LoopbackServer, run: Run) -> None:
    lent = {**BUSY, "reasons": ["it is on loan to somebody else"], "before": None, "ahead": []}
    person = {**lent["holder"], "recipe_id": None, "user": "bob"}
    reserved = {**lent, "fqdn": "b", "reasons": ["it is reserved by bob", "it is Manual"], "holder": person}
    waiting = {"rules": [RULE], "counted": COUNTED, "systems_count": 2, "systems": [lent, reserved]}
    server.on("GET", "/recipes/12/explanation", answer(state="queued", summary="because", waiting=waiting))
    said = run("explain", "12", "--wide").stdout
    assert "it is on loan to another user, running with recipe 4  " in said
    assert "it is reserved by bob, it is Manual  " in said


def test_explain__several_are_ahead_for_one_reason__are_grouped(server: LoopbackServer, run: Run) -> None:
    same = {"by": "submitted before", "priority_change": None}
    ahead = [{**BUSY["ahead"][0], "recipe_id": number, **same} for number in (14, 15)]
    first = {**BUSY["ahead"][0], "priority_change": None}
    busy = {**BUSY, "before": 8, "ahead": [first, *ahead]}
    waiting = {"rules": [RULE], "counted": COUNTED, "systems_count": 1, "systems": [busy]}
    server.on("GET", "/recipes/12/explanation", answer(state="queued", summary="because", waiting=waiting))
    said = run("explain", "12", "--wide").stdout
    assert "11: priority High before Normal; 14, 15: submitted before; 5 more" in said


SHARES = "0 systems without a guarantee before 3 systems for 4 guaranteed"
TURN = f"fair share of queue root.b before root.a: {SHARES}"


@pytest.mark.parametrize(("columns", "is_below"), [(80, True), (300, False)])
def test_explain__terminal_without_room_for_the_reasons__shows_each_once_below_the_table(
    server: LoopbackServer, tmp_path: Path, columns: int, is_below: bool
) -> None:
    rows = [
        {**BUSY["ahead"][0], "recipe_id": number, "by": TURN, "priority_change": None} for number in (14, 15)
    ]
    systems = [
        {**BUSY, "fqdn": f"{name}-01.rack-17.east.example.com", "before": 2, "ahead": ahead}
        for name, ahead in (("x86", rows), ("power", rows[1:]))
    ]
    waiting = {"rules": [RULE], "counted": COUNTED, "systems_count": 2, "systems": systems}
    server.on("GET", "/recipes/12/explanation", answer(state="queued", summary="because", waiting=waiting))
    environment = {**os.environ, "LABLEDGER_URL": server.url, "LABLEDGER_TOKEN": "ll_test"}
    environment["LABLEDGER_DATA"] = str(tmp_path)
    with terminal("explain", "12", environment=environment, columns=columns) as started:
        assert started.end() == 0, started.text
    assert (f"\nrecipes ahead\n  14, 15: {TURN}\n" in started.text) == is_below, started.text
    assert started.text.count("fair share of queue root.b") == (1 if is_below else 2)


def test_explain__not_all_systems_are_shown__has_the_total(server: LoopbackServer, run: Run) -> None:
    systems = [BUSY, {**BUSY, "fqdn": "b"}]
    waiting = {"rules": [RULE], "counted": COUNTED, "systems": systems, "systems_count": 7}
    server.on("GET", "/recipes/12/explanation", answer(state="queued", summary="because", waiting=waiting))
    assert "Showing the first 2 of 7; use --limit N for more." in run("explain", "12", "--limit", "2").stdout


def test_explain__has_a_system__shows_the_recipes_behind(server: LoopbackServer, run: Run) -> None:
    rival = {"recipe_id": 13, "priority": "Low", "effective_priority": "Low", "why": "submitted before"}
    granted = {
        "position": 30,
        "summary": "s",
        "system": "a",
        "cause": "event/28",
        "effective_priority": "High",
        "passed_over": [],
        "behind": [rival],
        "behind_count": 9,
        "choices": [],
        "choices_count": 0,
    }
    server.on("GET", "/recipes/12/explanation", answer(state="running", summary="s", granted=granted))
    said = run("explain", "12").stdout
    assert said.startswith("recipe 12 is running\nit got a at position 30, cause event/28:\ns\n")
    assert "next recipes after it" in said and "13" in said
    assert "Showing the first 1 of 9." in said
    assert "passed over" not in said


def test_explain__recipes_have_weights__are_shown_with_them(server: LoopbackServer, run: Run) -> None:
    waiting = {"rules": [RULE], "counted": COUNTED, "systems_count": 1, "systems": [BUSY], "weight": 3.6}
    server.on("GET", "/recipes/12/explanation", answer(state="queued", summary="because", waiting=waiting))
    assert run("explain", "12").stdout.startswith("recipe 12 is queued: because\nits weight is 3.60\n")
    why = "weight 0.90 before 3.60"
    rival = {"recipe_id": 13, "priority": "Low", "effective_priority": "Low", "weight": 3.6, "why": why}
    granted = {"position": 30, "summary": "s", "system": "a", "cause": "event/28", "weight": 0.9}
    lists = {"passed_over": [], "behind": [rival], "behind_count": 1, "choices": [], "choices_count": 0}
    placed = answer(state="running", summary="s", granted={**granted, "effective_priority": "Low", **lists})
    server.on("GET", "/recipes/12/explanation", placed)
    said = run("explain", "12", "--wide").stdout
    assert said.startswith("recipe 12 is running\nits weight was 0.90\n")
    assert ["13", "Low", "Low", "3.60", *why.split()] in [line.split() for line in said.splitlines()]
