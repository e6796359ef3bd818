"""`lab simulate` with all simulated faults, against a server that validates every message."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.lab import agent as lab_agent
from tests.cli.lab.lab_server import LAB, LabServer, provision
from tests.cli.loopback import HANG_UP, Answer, LoopbackServer, ReceivedRequest
from tests.harness.waiting import wait_until

Run = Callable[..., Result]


def simulate(run: Run, *options: str) -> list[dict[str, Any]]:
    result = run("lab", "simulate", "--once", "--speed", "20000", "--json", *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_simulate__guests__have_their_own_reports(server: LoopbackServer, run: Run) -> None:
    guests = [{"recipe_id": 13, "tasks": [{"id": 131}]}, {"recipe_id": 14, "guestname": "without tasks"}]
    lab = LabServer(server, provision(5, 12, guests=guests))
    simulate(run)
    assert lab.recipes == {12: "completed", 13: "completed", 14: "completed"}
    order = [step["recipe_id"] for step in lab.heard]
    first_task = lab.heard.index({"recipe_id": 12, "state": "running", "task_id": 120})
    assert all(first_task < order.index(guest) for guest in (13, 14))


def test_simulate__repeated_and_reordered__server_hears_everything_in_the_end(
    server: LoopbackServer, run: Run
) -> None:
    seen = set[str]()
    for seed in range(4):
        lab = LabServer(server, *(provision(number, number, f"h{number}") for number in range(5, 15)))
        lines = simulate(run, "--repeat", "60", "--reorder", "100", "--seed", str(seed))
        assert set(lab.recipes.values()) == {"completed"}
        assert not [line for line in lines if "refused" in line and line["what"] != "overtook"]
        seen |= {line["what"] for line in lines}
    # With some seeds a late message and the next one become due at the same moment.
    assert {"overtook", "repeated"} <= seen


def test_simulate__machine_breaks__system_is_reported_broken_then_repaired(
    server: LoopbackServer, run: Run
) -> None:
    lab = LabServer(server, provision(5, 12))
    simulate(run, "--break", "100")
    assert [one["condition"] for one in lab.reported] == ["Broken", "Automated"]
    assert all(one["reason"] for one in lab.reported)


def test_simulate__system_set_to_manual__is_not_changed(server: LoopbackServer, run: Run) -> None:
    lab = LabServer(server, provision(5, 12), condition="Manual")
    lines = simulate(run, "--break", "100")
    assert lab.reported == []
    assert "left alone" in {line["what"] for line in lines}


def test_simulate__provisioning_fails__command_is_failed_with_a_reason(
    server: LoopbackServer, run: Run
) -> None:
    lab = LabServer(server, *(provision(number, number, f"h{number}") for number in range(5, 25)))
    simulate(run, "--fail", "100")
    failed = {number for number, reports in lab.commands.items() if reports[-1]["state"] == "failed"}
    aborted = {recipe_id for recipe_id, state in lab.recipes.items() if state == "aborted"}
    assert failed and aborted
    assert failed | aborted == set(range(5, 25))
    assert all(lab.commands[number][-1]["reason"] for number in failed)


def test_simulate__stall__reports_nothing_more(server: LoopbackServer, run: Run) -> None:
    lab = LabServer(server, provision(5, 12))
    simulate(run, "--stall", "100", "--watchdog", "5")
    assert lab.recipes[12] in ("installing", "running")
    assert {"recipe_id": 12, "watchdog_seconds": 5} in lab.heard


def test_simulate__vanish__comes_back_and_finishes(server: LoopbackServer, run: Run) -> None:
    lab = LabServer(server, *(provision(number, number, f"h{number}") for number in range(5, 11)))
    lines = simulate(run, "--vanish", "100")
    assert set(lab.recipes.values()) == {"completed"}
    assert [line["what"] for line in lines].count("vanished") >= 1
    assert [line["what"] for line in lines].count("returned") >= 1


def test_simulate__reservation_of_a_person__command_runs_then_is_completed(
    server: LoopbackServer, run: Run
) -> None:
    reserved = {"id": 5, "kind": "provision", "system": "a", "recipe_id": None, "state": "queued"}
    lab = LabServer(server, reserved)
    simulate(run)
    assert [report["state"] for report in lab.commands[5]] == ["running", "completed"]
    assert lab.heard == []


def test_simulate__many_finished_commands__none_is_reported_again(server: LoopbackServer, run: Run) -> None:
    old = [provision(number, number, "h", state="completed") for number in range(1, 40)]
    released = [
        {"id": 100 + number, "kind": "release", "system": "h", "recipe_id": number, "state": "completed"}
        for number in range(1, 40)
    ]
    lab = LabServer(server, *old, *released, new=False)
    simulate(run)
    assert lab.commands == {}
    assert not [asked for asked in server.asked if asked.path.startswith("/recipes/")]


def test_simulate__started_in_the_middle__goes_on_from_there(server: LoopbackServer, run: Run) -> None:
    lab = LabServer(server, *(provision(number, number, f"h{number}") for number in range(5, 10)), new=False)
    for number in range(5, 8):
        lab.hear({"recipe_id": number, "state": "installing"})
    simulate(run, "--vanish", "100", "--repeat", "50")
    assert set(lab.recipes.values()) == {"completed"}
    assert {reports[-1]["state"] for reports in lab.commands.values()} == {"completed"}


def test_simulate__server_hangs_up_and_is_busy__goes_on(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_agent, "PAUSE_SECONDS", 0.01)
    lab = LabServer(server, provision(5, 12))
    trouble = iter([Answer(status=HANG_UP), Answer({}, 429, {"Retry-After": "0"}), Answer({}, 503)])

    def updates(asked: ReceivedRequest) -> Answer:
        return next(trouble, None) or lab.updates(asked)

    server.on("POST", f"{LAB}/updates", updates)
    simulate(run)
    assert lab.recipes == {12: "completed"}


def test_simulate__all_and_one_by_name__is_wrong_usage(server: LoopbackServer, run: Run) -> None:
    assert run("lab", "simulate", "--all", "--lab-controller", "x").exit_code == 2


def test_simulate__lab_controller_goes__others_go_on(server: LoopbackServer, run: Run) -> None:
    lab = LabServer(server, provision(5, 12))
    labs = [{"fqdn": name, "enabled": True} for name in ("gone.example.com", "lab.example.com")]
    server.on("GET", "/lab-controllers", Answer({"lab_controllers": labs, "next": None}))
    lines = simulate(run)
    assert {line["lab_controller"] for line in lines if line["what"] == "gone"} == {"gone.example.com"}
    assert lab.recipes == {12: "completed"}


def test_simulate__interrupted__ends_without_a_traceback(server: LoopbackServer, tmp_path: Path) -> None:
    LabServer(server, provision(5, 12))
    environment = {"LABLEDGER_URL": server.url, "LABLEDGER_TOKEN": "ll_test", "LABLEDGER_DATA": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "lab", "simulate"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: server.asked_for("GET", f"{LAB}/commands"), "the lab to ask for commands")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=15)
    assert (process.returncode, errors) == (0, "")
    assert "Traceback" not in output


def test_simulate__started_again__shows_the_number_of_commands_under_way(
    server: LoopbackServer, run: Run
) -> None:
    begun = [provision(number, number, f"h{number}", state="running") for number in (5, 6)]
    lab = LabServer(server, *begun, provision(7, 7, "h7"), new=False)
    lines = simulate(run)
    assert [line for line in lines if line["what"] == "resumes"] == [
        {"lab_controller": "lab.example.com", "what": "resumes", "commands": 2}
    ]
    assert [line["recipe_id"] for line in lines if line["what"] == "provision"] == [7]
    assert set(lab.recipes.values()) == {"completed"}


def test_simulate__for_a_person__names_no_recipe(server: LoopbackServer, run: Run) -> None:
    LabServer(server, provision(5, 12) | {"recipe_id": None, "tasks": []})
    line = next(line for line in simulate(run) if line["what"] == "provision")
    assert "recipe_id" not in line
