"""`labledger who`: one line for each use, in 80 columns; and other tables of operators in that width."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from cli.jobs.logs import LOG_COLUMNS
from cli.systems.maintenance import WINDOWS
from cli.systems.who import COLUMNS
from cli.terminal.tables import Column, Row, Rows
from tests.cli.loopback import Answer, LoopbackServer

FQDN = "store-01.west.example.com"


def interval(usage: str, minute: int, seconds: float, **more: Any) -> dict[str, Any]:
    nobody = dict.fromkeys(("kind", "recipe_id", "job_id", "user", "ordered_by", "ordered_position"))
    since = f"2026-11-29T10:{minute:02}:00Z"
    times = {"since": since, "begun_at": since, "seconds": seconds}
    return {"condition": "Automated", "usage": usage, "unavailable": None, **times, **nobody, **more}


BY_JOB = {"kind": "recipe", "recipe_id": 12345, "job_id": 4321, "user": "jdoe", "ordered_by": "jdoe"}
LOAN = {"kind": "loan", "user": "bob", "ordered_by": "admin", "ordered_position": 2_166}
INTERVALS = [
    interval("idle", 0, 60.0),
    interval("waiting", 1, 0.0, **BY_JOB, ordered_position=85),
    interval("installing", 1, 600.0, **BY_JOB, ordered_position=85),
    interval("running", 11, 1_260.0, **BY_JOB, ordered_position=85),
    # The same recipe, after another order.
    interval("running", 32, 60.0, **BY_JOB, ordered_position=97),
    interval("idle", 33, 120.0, unavailable="draining"),
    interval("idle", 35, 300.0, **LOAN),
]


def test_who__time_span__has_one_line_for_each_use_and_json_each_interval(
    server: LoopbackServer, run: Callable[..., Result]
) -> None:
    server.on("GET", f"/systems/{FQDN}/usage", Answer({"position": 9, "intervals": INTERVALS, "next": None}))
    asked = ("who", FQDN, "--since", "2026-11-29T10:00:00Z", "--until", "2026-11-29T10:40:00Z")
    title, heading, _, *lines = run(*asked, "--wide").stdout.splitlines()
    assert title == f"system {FQDN}"
    assert heading.split() == (
        ["since", "(UTC)", "time", "kind", "recipe", "job", "user", "ordered", "by", "usage", "event"]
    )
    assert [" ".join(line.split()[1:]) for line in lines] == [
        "10:00:00 1m 0s idle idle",
        "10:01:00 31m 0s recipe 12345 4321 jdoe jdoe running 85",
        "10:32:00 1m 0s recipe 12345 4321 jdoe jdoe running 97",
        "10:33:00 2m 0s draining idle",
        "10:35:00 5m 0s loan bob admin idle 2166",
    ]
    assert json.loads(run(*asked, "--json").stdout)["intervals"] == INTERVALS


WINDOW = {"number": 12, "state": "draining", "systems": None, "pool": None, "location": None}
TIMES = {"drains_at": "2026-11-29T06:00:00Z", "starts_at": "2026-11-29T10:00:00Z", "ended_at": None}
COVERED = {"lab_controller": "lab.west.example.com", "reason": "new switch for rack 7", "added_by": "ada"}
LOG = {"task_id": 123_456, "result": "Panic", "path": "/boot", "name": "taskout.log", "size_bytes": 123_456}


@pytest.mark.parametrize(
    ("columns", "row", "left_out"),
    [
        (COLUMNS, interval("installing", 0, 1.0, **BY_JOB, ordered_position=123_456), ["usage"]),
        (COLUMNS, interval("running", 0, 1e6, **{**LOAN, "kind": "reservation"}), []),
        (
            WINDOWS.columns,
            {**WINDOW, **TIMES, **COVERED, "ends_at": "2026-11-29T12:00:00Z"},
            ["drains (UTC)", "reason", "added by"],
        ),
        # Addresses are whole, or left out.
        (
            LOG_COLUMNS,
            {**LOG, "url": "http://logs.example.com/" + 80 * "x", "sha256": "f"},
            ["address", "SHA-256"],
        ),
    ],
)
def test_table__80_columns__leaves_out_the_least(
    columns: tuple[Column, ...], row: Row, left_out: list[str]
) -> None:
    assert Rows(columns, [row]).left_out(80) == left_out
