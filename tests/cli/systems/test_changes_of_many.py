"""`labledger system drain`, `undrain` and `condition` of many systems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

PATH = "/system-changes"


def answered(*changed: str, **more: Any) -> Answer:
    systems = [{"fqdn": fqdn, "status": 200, "changed": True} for fqdn in changed]
    return Answer({"position": 7, "dry_run": False, "systems": systems, **more})


def row(fqdn: str, usage: str) -> dict[str, Any]:
    return {"fqdn": fqdn, "usage": usage}


def test_drain__of_a_pool_and_a_location__all_its_systems_in_one_request(
    server: LoopbackServer, run: Run
) -> None:
    server.on("GET", "/pools/big", Answer({"name": "big"}))
    server.on("GET", "/systems", Answer({"systems": [row("a.b", "idle"), row("c.d", "idle")], "next": None}))
    kept = [{"fqdn": "c.d", "status": 200, "changed": False}]
    server.on("POST", PATH, answered(systems=[*answered("a.b").body["systems"], *kept]))
    result = run("system", "drain", "--pool", "big", "--location", "rack 7", "--reason", "new switch")
    assert result.stdout.splitlines()[2:] == [
        "a.b     is draining",
        "c.d     was already draining",
        "1 changed, 1 unchanged",
    ]
    _, listing, posted = server.asked
    assert listing.query == {"pool": ["big"], "location": ["rack 7"], "limit": ["1000"]}
    assert posted.json() == {"systems": ["a.b", "c.d"], "draining": True, "reason": "new switch"}
    assert "idempotency-key" in {name.lower() for name in posted.headers}


def test_condition__of_a_file_and_names__each_once(server: LoopbackServer, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "systems"
    file.write_text("# rack 7\na.b\n\n c.d  # the old one\n", encoding="utf-8")
    server.on("POST", PATH, answered("e.f", "a.b", "c.d"))
    result = run("system", "condition", "e.f", "a.b", "broken", "--file", str(file), "--json")
    assert json.loads(result.stdout)["position"] == 7
    assert server.asked[0].json() == {
        "systems": ["e.f", "a.b", "c.d"],
        "condition": "Broken",
        "reason": "",
    }


def test_drain__file_with_errors__names_their_lines_and_similar_systems(
    server: LoopbackServer, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "systems"
    file.write_text("# rack 7\na.b\n\nx86-01\n", encoding="utf-8")
    fault = {"where": "systems[2]", "message": 'there is no system "x86-01"'}
    server.on("POST", PATH, Answer({"title": "Invalid input", "errors": [fault]}, 422))
    listed = [row("x86-02.example.com", "idle"), row("x86-01.example.com", "idle")]
    server.on("GET", "/systems", Answer({"systems": listed, "next": None}))
    result = run("system", "drain", "e.f", "--file", str(file))
    message = 'there is no system "x86-01"; did you mean x86-01.example.com?'
    assert result.stderr.splitlines()[1:] == [f"  {file}, line 4: {message}"]
    alone = run("system", "drain", "x86-02")
    assert "; did you mean x86-02.example.com?" in alone.stderr
    file.write_bytes(b"a.b\n\xff\n")
    times = ("--from", "now", "--until", "2099-01-01T12:00:00Z", "--reason", "r")
    for command in (("system", "drain"), ("maintenance", "add", *times)):
        result = run(*command, "--file", str(file))
        assert result.exit_code == 1 and f"{file}: is not UTF-8 at byte 4" in result.stderr


def test_undrain__dry_run_of_one__asks_and_changes_nothing(server: LoopbackServer, run: Run) -> None:
    server.on("POST", PATH, answered("a.b", dry_run=True))
    result = run("system", "undrain", "a.b", "--dry-run", "--reason", "works")
    assert "1 would change, 0 unchanged" in result.stdout
    assert "a.b     would change" in result.stdout and "nothing was changed" in result.stderr
    assert server.asked[0].query == {"dry_run": ["True"]} or server.asked[0].query == {"dry_run": ["true"]}
    assert server.asked[0].json() == {"systems": ["a.b"], "draining": False, "reason": "works"}


def test_drain__a_partition_failed__named_with_status_1(server: LoopbackServer, run: Run) -> None:
    failed = {"fqdn": "c.d", "status": 409, "title": "Conflict", "detail": "kept changing"}
    server.on("POST", PATH, answered(systems=[*answered("a.b").body["systems"], failed]))
    result = run("system", "drain", "a.b", "c.d")
    assert result.exit_code == 1
    assert "c.d     not changed: kept changing" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 changed, 0 unchanged, 1 failed"


def test_drain__nothing_selected__no_request(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems", Answer({"systems": [], "next": None}))
    result = run("system", "drain", "--location", "nowhere", "--wait")
    assert (result.exit_code, result.stdout) == (0, "no system is selected\n")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ("drain a.b c.d --wait", {"draining": ["true"]}),
        ("condition a.b c.d manual --wait", {"condition": ["Manual"]}),
    ],
)
def test_wait__recipes_there__returns_when_the_systems_are_idle(
    server: LoopbackServer,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
    query: dict[str, list[str]],
) -> None:
    monkeypatch.setattr("cli.systems.changes.WAIT_SECONDS", 0)
    server.on("POST", PATH, answered("a.b", "c.d"))
    states = [("running", "running"), ("running", "idle"), ("idle", "idle")]
    pages = [[row("a.b", first), row("c.d", second), row("other", "running")] for first, second in states]
    server.on("GET", "/systems", *(Answer({"systems": page, "next": None}) for page in pages))
    result = run("system", *arguments.split())
    assert result.stderr == "waiting for 2 in use: a.b, c.d\nwaiting for 1 in use: a.b\n"
    asked = [each.query for each in server.asked if each.path == "/systems"]
    assert len(asked) == 3
    assert all({**each, **query} == each for each in asked)


@pytest.mark.parametrize(
    ("option", "ticket"), [(["--ticket", "http://a/1"], "http://a/1"), (["--no-ticket"], None)]
)
def test_condition__with_a_ticket__is_sent(
    server: LoopbackServer, run: Run, option: list[str], ticket: str | None
) -> None:
    server.on("PATCH", "/systems/a.b", Answer({"fqdn": "a.b", "changed": True}))
    assert run("system", "condition", "a.b", "broken", *option).exit_code == 0
    assert server.asked[0].json() == {"condition": "Broken", "reason": "", "ticket": ticket}
    assert run("system", "condition", "a.b", "broken", "--ticket", "http://a/1", "--no-ticket").exit_code == 2
