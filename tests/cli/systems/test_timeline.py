"""`labledger timeline`: lines of marks, exact shares, and the requested resolution."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]
SINCE, UNTIL = "2026-01-01T00:00:00Z", "2026-01-01T04:48:00Z"
PATH = "/timeline"


def interval(since: str, until: str, seconds: float, usage: str, condition: str | None, **more: Any) -> Any:
    ends = {"since": f"2026-01-01T{since}:00Z", "until": f"2026-01-01T{until}:00Z"}
    named = {"usage": usage, "condition": condition, "recipe_id": None, "job_id": None, "user": None}
    return {**ends, **named, "seconds": seconds, "shares": [], **more}


SHARES = [
    {"condition": "Automated", "usage": "waiting", "seconds": 60.0},
    {"condition": "Automated", "usage": "installing", "seconds": 300.0},
]
# Five hours less twelve minutes, so a mark is six minutes.
INTERVALS = [
    interval("00:00", "01:00", 3600.0, "unregistered", None),
    interval("01:00", "03:00", 7200.0, "running", "Automated", recipe_id=7, job_id=3, user="alice"),
    interval("03:00", "03:06", 360.0, "mixed", None, shares=SHARES),
    interval("03:06", "04:48", 6120.0, "idle", "Broken"),
]
DOCUMENT = {
    "position": 9,
    "since": SINCE,
    "until": UNTIL,
    "resolution_seconds": 360,
    "next": None,
    "systems": [{"fqdn": "a.b", "lab_controller": "l", "owner": "eve", "intervals": INTERVALS}],
}


def test_timeline__of_a_system__has_a_mark_for_each_part(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer(DOCUMENT))
    result = run("timeline", "--since", SINCE, "--until", UNTIL, "--wide")
    heading, _, line, legend = result.stdout.splitlines()
    assert "2026-01-01 00:00:00 to 2026-01-01 04:48:00 (UTC)" in heading
    assert line.startswith(f"a.b     {' ' * 10}{'#' * 20}~{'X' * 17}")
    assert line.split()[-4:] == ["52.6%", "2.2%", "0.4%", "44.7%"]
    assert legend == "# running  X Broken  ~ mixed"
    assert server.asked[0].query["resolution_seconds"] == ["360"]


def test_timeline__systems_and_filters__are_asked_for(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer(DOCUMENT))
    run("timeline", "a.b", "c.d", "--pool", "big", "--condition", "broken", "--resolution", "5")
    query = server.asked[0].query
    wanted = {"fqdn": ["a.b,c.d"], "pool": ["big"], "condition": ["Broken"], "resolution_seconds": ["5"]}
    assert {name: query[name] for name in wanted} == wanted


def test_timeline__without_a_time_span__has_marks_of_half_an_hour(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer(DOCUMENT))
    run("timeline")
    assert server.asked[0].query["resolution_seconds"] == ["1800"]


def test_timeline__as_json__has_the_exact_intervals(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer(DOCUMENT))
    assert json.loads(run("timeline", "--json").stdout) == DOCUMENT
    assert server.asked[0].query["resolution_seconds"] == ["0"]


def test_timeline__no_systems__says_so(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer({**DOCUMENT, "systems": []}))
    assert run("timeline").stdout == "There are no such systems.\n"
