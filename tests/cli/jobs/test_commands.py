"""Commands against a scripted server: tables for people, JSON for machines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.cli.answers import RECIPE, SYSTEM
from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]


def test_token_create__standard_output__is_the_token_alone(server: LoopbackServer, run: Run) -> None:
    server.on("POST", "/tokens", Answer({"token": "ll_new", "token_id": "1"}, 201))
    result = run("token", "create", "lab", "--role", "lab-controller", "--lab-controller", "l.example.com")
    assert result.stdout == "ll_new\n"
    body = {"user": "lab", "role": "lab-controller", "lab_controller": "l.example.com"}
    assert server.asked[0].json() == body


def test_cancel__a_job__sends_the_reason(server: LoopbackServer, run: Run) -> None:
    server.on("POST", "/jobs/7/cancel", Answer({"job_id": 7}))
    assert run("cancel", "7", "--reason", "wrong kernel").exit_code == 0
    assert server.asked[0].json() == {"reason": "wrong kernel"}


def test_system__shown__leaves_out_empty_properties(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/systems/a.example.com", Answer({**SYSTEM, "vendor": None, "cpu": {"cores": 4}}))
    lines = run("system", "show", "a.example.com").stdout.splitlines()
    assert lines == [
        "fqdn: a.example.com",
        "condition: Broken",
        "pools: big, small",
        "cpu: cores=4",
    ]


def test_recipe__was_in_several_states__shows_its_history(server: LoopbackServer, run: Run) -> None:
    history = [
        {"state": "new", "since": "2026-01-01T00:00:00Z", "until": "2026-01-01T00:01:15Z"},
        {"state": "aborted", "since": "2026-01-01T00:01:15Z", "until": None, "reason": "no such distro"},
    ]
    server.on("GET", "/recipes/12", Answer({**RECIPE, "history": history, "tasks": []}))
    output = run("recipe", "12").stdout
    assert "1m 15s" in output
    assert "no such distro" in output


def test_recipe__waits__shows_its_request_and_its_distro_tree(server: LoopbackServer, run: Run) -> None:
    tree = {"id": 4, "name": "Fedora-44", "variant": "Server", "arch": "aarch64", "urls": {}}
    shown = {**RECIPE, "group": None, "whiteboard": "smoke", "distro_tree": tree}
    server.on("GET", "/recipes/12", Answer({**shown, "deadline": "2026-01-01T00:00:00Z"}))
    lines = run("recipe", "12").stdout.splitlines()
    assert lines[2:] == [
        "  recipe set: 3",
        "  priority: High",
        "  owner: alice",
        "  whiteboard: smoke",
        "  distro tree: Fedora-44 Server aarch64 (4)",
        "  state: queued",
        "  deadline: 2026-01-01 00:00:00 UTC",
    ]


def test_flag__of_a_whole_number__shows_its_bounds(run: Run) -> None:
    shown = " ".join(run("up", "--help").stdout.split())
    assert "--port INTEGER" in shown and "(LABLEDGER_PORT) [0 to 65535]" in shown


@pytest.mark.parametrize(
    "arguments", [["--help"], ["queue", "--help"], ["system", "show", "--help"], ["overview", "--help"]]
)
def test_start__command_without_a_request__imports_nothing_heavy(arguments: list[str]) -> None:
    """Slow imports would delay every call."""
    script = f"import sys, cli; cli.main({arguments}, standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"rich", "httpx", "falcon", "psycopg", "pydantic", "lxml"}
