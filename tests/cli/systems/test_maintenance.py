"""`labledger maintenance`, and `system undrain --wait`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

PATH = "/maintenance-windows"
WINDOW: dict[str, Any] = {
    "position": 9,
    "number": 3,
    "reason": "new switch",
    "state": "planned",
    "drains_at": "2099-01-01T06:00:00Z",
    "starts_at": "2099-01-01T08:00:00Z",
    "ends_at": "2099-01-01T12:00:00Z",
    "lead_seconds": 7_200,
    "systems": ["a.b", "c.d"],
    "pool": None,
    "lab_controller": None,
    "location": None,
    "added_by": "ada",
    "added_at": "2098-12-31T00:00:00Z",
    "ended_at": None,
    "end_reason": None,
    "covered_systems": ["a.b", "c.d"],
    "unfinished": {"recipes": [], "reservations": [], "loans": []},
}
RECIPE = {"system": "a.b", "recipe_id": 7, "job_id": 1, "owner": "bob", "state": "running"}
UNFINISHED = {
    "recipes": [{**RECIPE, "latest_end": "2099-01-01T09:00:00Z"}],
    "reservations": [],
    "loans": [{"system": "c.d", "user": "eve", "until": None}],
}
TIMES = ("--from", "2099-01-01T08:00:00Z", "--until", "2099-01-01T12:00:00Z", "--reason", "new switch")


def test_add__dry_run__shows_what_will_not_be_finished(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "systems"
    file.write_text("c.d\n", encoding="utf-8")
    server.on("POST", PATH, Answer({**WINDOW, "number": None, "dry_run": True, "unfinished": UNFINISHED}))
    found = run("maintenance", "add", "a.b", "--file", str(file), *TIMES, "--lead", "2h", "--dry-run")
    assert found.exit_code == 0, found.output
    first, times, second, *rows = found.stdout.splitlines()
    assert first == "maintenance window would be added: 2 systems"
    assert times == "from 2099-01-01 08:00:00 until 2099-01-01 12:00:00 (UTC), drained 2h 0m before"
    assert second == "Not finished when it starts:"
    assert [" ".join(row.split()) for row in rows[2:]] == [
        "a.b recipe 7 bob 2099-01-01 09:00:00",
        "c.d loan eve no end",
    ]
    assert "nothing was changed" in found.stderr
    assert server.asked[0].json() == {
        "reason": "new switch",
        "starts_at": "2099-01-01T08:00:00+00:00",
        "ends_at": "2099-01-01T12:00:00+00:00",
        "lead_seconds": 7_200,
        "systems": ["a.b", "c.d"],
    }


def test_add__of_a_lab_and_a_location__asks_for_the_properties(server: LoopbackServer, run: Run) -> None:
    server.on("POST", PATH, Answer({**WINDOW, "dry_run": False}))
    found = run("maintenance", "add", "--lab", "lab.x", "--location", "rack 7", *TIMES)
    assert found.stdout.splitlines()[2:] == ["Everything will be finished when it starts."]
    asked = server.asked[0].json()
    assert (asked["lab_controller"], asked["location"]) == ("lab.x", "rack 7")
    assert {"systems", "lead_seconds", "pool"}.isdisjoint(asked)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.b",), "needs --from and --until and --reason"),
        (TIMES, "Name systems"),
        (("a.b", "--pool", "p", *TIMES), "Name systems"),
    ],
)
def test_add__of_a_wrong_form__is_wrong_usage(run: Run, arguments: tuple[str, ...], said: str) -> None:
    found = run("maintenance", "add", *arguments)
    assert found.exit_code == 2 and said in found.stderr


def test_add__refused__names_the_options_and_similar_names(server: LoopbackServer, run: Run) -> None:
    faults = [
        ("pool", 'there is no pool "smal"'),
        ("ends_at", "must be after starts_at, 2099"),
        ("body", "covers no system"),
    ]
    errors = [{"where": where, "message": message} for where, message in faults]
    server.on("POST", PATH, Answer({"title": "Invalid input", "errors": errors}, 422))
    server.on("GET", "/pools", Answer({"pools": [{"name": "big"}, {"name": "small"}], "next": None}))
    found = run("maintenance", "add", "--pool", "smal", "--location", "x", *TIMES)
    assert found.stderr.splitlines()[1:] == [
        '  --pool: there is no pool "smal"; did you mean small?',
        "  --until: must be after --from, 2099",
        "  --pool, --location: covers no system",
    ]
    found = run("maintenance", "add", "a.b", *TIMES, "--lead", "400d")
    assert "at most 366d" in found.stderr
    assert run("maintenance", "add", "--help").output.count("[required]") == 3


def test_other_commands__of_a_window__ask_for_it(server: LoopbackServer, run: Run) -> None:
    server.on("GET", PATH, Answer({"position": 9, "maintenance_windows": [WINDOW], "next": None}))
    server.on("GET", f"{PATH}/3", Answer(WINDOW))
    server.on("PATCH", f"{PATH}/3", Answer({"position": 10, "number": 3, "changed": True}))
    server.on("POST", f"{PATH}/3/end", Answer({"position": 11, "number": 3, "ended": True}))
    assert "planned" in run("maintenance", "list", "--system", "a.b", "--state", "planned").stdout
    assert run("maintenance", "show", "3").stdout.startswith("maintenance window 3 is planned: new switch\n")
    moved = run("maintenance", "move", "3", "--until", "2099-01-01T13:00:00Z")
    assert moved.stdout == "maintenance window 3 moved\n"
    ended = run("maintenance", "end", "3", "--reason", "done")
    assert ended.stdout == "maintenance window 3 ended\n"
    listing, _, patched, posted = server.asked
    assert (listing.query["system"], listing.query["state"]) == (["a.b"], ["planned"])
    assert patched.json() == {"ends_at": "2099-01-01T13:00:00+00:00"}
    assert posted.json() == {"reason": "done"}
    assert run("maintenance", "move", "3").exit_code == 2


def test_undrain__wait__until_no_system_is_pending(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.systems.changes.WAIT_SECONDS", 0)
    systems = [{"fqdn": fqdn, "status": 200, "changed": True} for fqdn in ("a.b", "c.d")]
    server.on("POST", "/system-changes", Answer({"position": 7, "dry_run": False, "systems": systems}))
    pending = [{"fqdn": "a.b", "usage": "pending"}, {"fqdn": "other", "usage": "pending"}]
    server.on(
        *("GET", "/systems"),
        Answer({"systems": pending, "next": None}),
        Answer({"systems": pending[1:], "next": None}),
    )
    found = run("system", "undrain", "a.b", "c.d", "--wait")
    assert found.exit_code == 0
    assert "waiting for 1 pending: a.b" in found.stderr
    assert server.asked[1].query["usage"] == ["pending"]


def test_list__window_ended_early__shows_when_it_ended(server: LoopbackServer, run: Run) -> None:
    window = {**WINDOW, "ended_at": "2099-01-01T09:30:00Z", "state": "ended"}
    server.on("GET", PATH, Answer({"position": 9, "maintenance_windows": [window], "next": None}))
    assert "2099-01-01 09:30" in run("maintenance", "list").stdout
