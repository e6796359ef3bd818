"""`labledger queue` with current reasons, and their counts."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.cli.answers import QUEUE, RECIPE
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

BROKEN = {"code": "all-broken", "text": "every system that could run it is broken"}
COUNTS = {
    "position": 9,
    "recipes": 5,
    "by_priority": {"High": 2, "Low": 3},
    "reasons": [{**BROKEN, "recipes": 5, "by_priority": {"High": 2, "Low": 3}}],
    "lab_controllers": [{"name": "lab.east", "recipes": 4}],
    "partitions": [{"name": "default", "position": 9}],
}


def test_queue__with_reasons__shows_them_instead_of_held_back(server: LoopbackServer, run: Run) -> None:
    rows = [{**RECIPE, "reason": BROKEN}, {**RECIPE, "reason": None}]
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": rows}))
    lines = run("queue", "--reasons", "--system", "a", "--wide").stdout.splitlines()
    assert server.asked[0].query["reasons"] == ["true"]
    assert "reason" in lines[0] and "held back" not in lines[0]
    assert [BROKEN["text"] in line for line in lines[2:]] == [True, False]


def test_queue__with_estimates__shows_the_times_left(server: LoopbackServer, run: Run) -> None:
    given = {"p50_seconds": 60.0, "p90_seconds": None, "more_than_seconds": 7200.0}
    unknown = dict.fromkeys(given)
    rows = [{**RECIPE, "estimate": estimate} for estimate in (given, unknown, None)]
    server.on("GET", "/queue", Answer({**QUEUE, "recipes": rows}))
    lines = run("queue", "--estimates", "--reasons", "--wide").stdout.splitlines()
    assert server.asked[0].query["estimates"] == server.asked[0].query["reasons"] == ["true"]
    assert "half start within  nine of ten within" in lines[0]
    assert ["1m 0s" in line and "more than 2h 0m" in line for line in lines[2:]] == [True, False, False]
    assert [line.count("unknown") for line in lines[2:]] == [0, 2, 0]


def test_queue__by_reason__shows_counts_and_labs(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue/reasons", Answer(COUNTS))
    result = run("queue", "--by-reason", "--partition", "default")
    assert server.asked[0].query["partition"] == ["default"]
    shown = [line.split() for line in result.stdout.splitlines()]
    assert ["5", "High=2", "Low=3", *BROKEN["text"].split()] in shown
    assert ["4", "lab.east"] in shown
    assert json.loads(run("queue", "--by-reason", "--json").stdout) == COUNTS


def test_queue__by_reason_and_nothing_waits__says_so(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/queue/reasons", Answer({**COUNTS, "reasons": [], "lab_controllers": []}))
    assert run("queue", "--by-reason").stdout == "No recipe waits for a system.\n"


@pytest.mark.parametrize(
    "other", [["--system", "a"], ["--reasons"], ["--estimates"]], ids=lambda other: other[0]
)
def test_queue__by_reason_and_another_option__is_refused(run: Run, other: list[str]) -> None:
    result = run("queue", "--by-reason", *other)
    assert (result.exit_code, f"--by-reason and {other[0]} exclude each other." in result.stderr) == (2, True)
