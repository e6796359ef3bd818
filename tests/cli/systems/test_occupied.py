"""`labledger reconciliations` and `labledger system vacate`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

REASON = "recipe 12 runs there, but is completed"
OCCUPIED = {"id": 412, "reason": REASON, "recipe_id": 12, "attempt": 1}


def test_reconciliations__of_a_lab__have_the_reason_and_the_recipe(server: LoopbackServer, run: Run) -> None:
    row = {**OCCUPIED, "system": "a.b", "lab_controller": "l.b", "since": "2026-01-01T00:00:00Z"}
    refused = {"lab_controller": "l.b", "instance": "boot 7", "system": "c.d", "reason": "named twice"}
    shown = {"position": 500, "reconciliations": [row], "rejected": [refused], "next": None}
    server.on("GET", "/reconciliations", Answer(shown))
    printed = run("reconciliations", "--lab-controller", "l.b", "--wide").stdout
    assert server.asked[0].query["lab_controller"] == ["l.b"]
    assert all(text in printed for text in ("412", "a.b", REASON, "12"))
    assert all(text in printed for text in ("Refused items", "boot 7", "c.d", "named twice"))


def test_vacate__occupied_system__resolves_its_reconciliation(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems/a.b", Answer({"fqdn": "a.b", "occupied": OCCUPIED}))
    server.on("POST", "/reconciliations/412/resolve", Answer({"position": 9, "id": 412, "resolved": True}))
    printed = run("system", "vacate", "a.b", "--reason", "powered off")
    assert (printed.exit_code, printed.stdout) == (0, "a.b is vacant\n")
    assert json.loads(server.asked[-1].body) == {"reason": "powered off"}


@pytest.mark.parametrize("occupied", [{}, {"occupied": None}])
def test_vacate__system_that_is_not_occupied__says_so(
    server: LoopbackServer, run: Run, occupied: dict[str, None]
) -> None:
    server.on("GET", "/systems/a.b", Answer({"fqdn": "a.b", **occupied}))
    printed = run("system", "vacate", "a.b")
    assert (printed.exit_code, printed.stdout) == (0, "a.b was not occupied\n")
    assert [each.method for each in server.asked] == ["GET"]


def test_systems__occupied__is_beside_the_condition(server: LoopbackServer, run: Run) -> None:
    row = {"fqdn": "a.b", "condition": "Automated", "usage": "idle", "draining": True, "occupied": OCCUPIED}
    server.on("GET", "/systems", Answer({"position": 4, "systems": [row], "next": None}))
    assert "Automated, draining, occupied" in run("systems", "--wide").stdout
