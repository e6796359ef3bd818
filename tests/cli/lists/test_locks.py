"""`labledger locks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

HELD: dict[str, Any] = {
    "level": "network",
    "name": "n1",
    "mode": "Shared",
    "state": "held",
    "recipe_id": 12,
    "recipe_set_id": 3,
    "job_id": 7,
    "owner": "alice",
    "group": None,
    "lab_controller": "lab.example.com",
    "since": "2026-01-01T00:00:00Z",
    "since_position": 5,
    "overtaken": None,
    "owed": None,
    "waits_for": [],
    "waits_for_count": 0,
}
AWAITED = {
    **HELD,
    "name": None,
    "mode": "Exclusive",
    "state": "awaited",
    "recipe_id": 13,
    "recipe_set_id": 4,
    "overtaken": 8,
    "owed": True,
    "waits_for": [3, 5],
    "waits_for_count": 12,
}


def test_locks__held_and_awaited__shows_who_waits_for_whom(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/locks", Answer({"position": 9, "locks": [HELD, AWAITED], "next": None}))
    lines = run("locks", "--wide").stdout.splitlines()
    (held,) = (line for line in lines if " held " in line)
    (awaited,) = (line for line in lines if " awaited " in line)
    assert held.split()[:6] == ["network", "n1", "Shared", "held", "12", "3"]
    assert awaited.split()[:6] == ["network", "(all)", "Exclusive", "awaited", "13", "4"]
    assert "3, 5, 10 more" in awaited and "8, owed" in awaited


def test_locks__filters__are_sent(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/locks", Answer({"position": 9, "locks": [], "next": None}))
    assert run("locks", "--level", "network", "--name", "n1", "--state", "held").exit_code == 0
    query = server.asked[0].query
    assert [query[name] for name in ("level", "name", "state")] == [["network"], ["n1"], ["held"]]
    run("locks", "--level", "noderes")
    assert server.asked[-1].query["level"] == ["system_resource"]
    refused = run("locks", "--level", "rack")
    assert refused.exit_code == 2 and "system_resource" in refused.stderr


def test_help__levels_and_states__are_listed(run: Run) -> None:
    said = "".join(run("locks", "--help").stdout.split())
    assert "[pool|guest|system|system_resource|network|whole_lab]" in said and "[held|awaited]" in said
