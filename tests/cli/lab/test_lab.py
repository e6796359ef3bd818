"""`lab load`, and `lab simulate` against a server of one lab."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from click import ClickException
from click.testing import Result

from api.client.connection_file import Connection
from cli.lab import agent as lab_agent
from cli.service.up import load_demo
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest

Run = Callable[..., Result]

SUBMIT = {"permission": "submit", "everybody": True}
LAB = {
    "users": [{"name": "alice"}],
    "groups": [{"name": "qe", "owners": ["alice"], "members": ["alice"]}],
    "lab_controllers": [{"fqdn": "lab.example.com", "enabled": True}],
    "pools": [{"name": "big", "owner_group": "qe", "access_policy": [SUBMIT]}, {"name": "small"}],
    "distro_trees": [{"id": 1, "name": "Fedora-44", "arch": "x86_64"}],
    "systems": [{"fqdn": "a.example.com", "lab_controller": "lab.example.com"}],
}
PUTS = {
    "/users/alice": {},
    "/groups/qe": {"owners": ["alice"], "members": ["alice"]},
    "/lab-controllers/lab.example.com": {"enabled": True},
    "/pools/big": {"owner_group": "qe"},
    "/pools/big/access-policy": {"entries": [SUBMIT]},
    "/pools/small": {},
    "/distro-trees/1": {"name": "Fedora-44", "arch": "x86_64"},
}


def accept_items(server: LoopbackServer, *fqdns: str) -> None:
    systems = [{"fqdn": fqdn} for fqdn in fqdns]
    server.on("GET", "/systems", Answer({"position": 1, "systems": systems, "next": None}))
    server.on("GET", "/partitions", Answer({"partitions": [{"name": "default", "lab_controllers": []}]}))


def imported(added: int = 0, kept: int = 0) -> Answer:
    return Answer({"added": added, "changed": 0, "kept": kept, "systems": []})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lab.json"
    path.write_text(json.dumps(LAB), encoding="utf-8")
    return path


def test_load__a_lab__everything_in_the_order_it_is_named(
    server: LoopbackServer, run: Run, file: Path
) -> None:
    for path in PUTS:
        server.on("PUT", path, Answer({}))
    accept_items(server)
    server.on("POST", "/inventory", imported(added=1), imported(kept=1))

    first, second = run("lab", "load", str(file), "--json"), run("lab", "load", str(file), "--json")

    assert [first.exit_code, second.exit_code] == [0, 0]
    assert {asked.path: asked.json() for asked in server.asked[:7]} == PUTS
    assert [asked.path for asked in server.asked[:8]] == [*PUTS, "/systems"]
    assert [asked.json() for asked in server.asked_for("POST", "/inventory")] == [
        {"systems": LAB["systems"]}
    ] * 2
    counts = [json.loads(result.stdout)["sections"][-1] for result in (first, second)]
    assert counts[0] == {"section": "systems", "added": 1, "changed": 0, "kept": 0}
    assert counts[1] == {"section": "systems", "added": 0, "changed": 0, "kept": 1}


@pytest.mark.parametrize("other", ["/pools/big", "/pools/big/access-policy"])
def test_load__over_existing_objects__counts_the_changed_ones(
    server: LoopbackServer, run: Run, file: Path, other: str
) -> None:
    for path in PUTS:
        server.on("PUT", path, Answer({"added": False, "changed": path == other}))
    accept_items(server)
    server.on("POST", "/inventory", imported(added=1))
    sections = json.loads(run("lab", "load", str(file), "--json").stdout)["sections"]
    assert [each["section"] for each in sections if each["changed"]] == ["pools"]
    assert [each["section"] for each in sections if each["added"]] == ["systems"]


def lab_with(server: LoopbackServer, *lab_controllers: str) -> None:
    rows = [{"fqdn": fqdn} for fqdn in lab_controllers]
    server.on("GET", "/events", Answer({"events": [{"position": 4}], "next": None}))
    server.on("GET", "/lab-controllers", Answer({"position": 4, "lab_controllers": rows, "next": None}))


@pytest.mark.parametrize("labs", [(), ("lab.east.example.com", "lab.own.example.com")], ids=["none", "more"])
def test_demo__systems_there_already__nothing_is_loaded(
    server: LoopbackServer, labs: tuple[str, ...]
) -> None:
    lab_with(server, *labs)
    assert not load_demo(Connection(server.url, "ll_test"))
    assert {asked.method for asked in server.asked} == {"GET"}


def test_demo__other_lab_is_there__is_refused_because_its_machines_may_be_real(
    server: LoopbackServer,
) -> None:
    lab_with(server, "lab.real.example.com")
    with pytest.raises(ClickException, match=r"lab\.real\.example\.com: its machines would be simulated"):
        load_demo(Connection(server.url, "ll_test"))


def test_load__item_refused__is_named(server: LoopbackServer, run: Run, file: Path) -> None:
    server.on("PUT", "/users/alice", Answer({"title": "Wrong", "detail": "no"}, 422))
    result = run("lab", "load", str(file))
    assert (result.exit_code, result.stderr) == (1, "Error: Wrong: users alice: no\n")


@pytest.mark.parametrize("content", ["{", "[]", '{"sistems": []}', '{"users": [{}]}', '{"users": {}}'])
def test_load__file_wrong__nothing_is_loaded(
    server: LoopbackServer, run: Run, file: Path, content: str
) -> None:
    file.write_text(content, encoding="utf-8")
    assert run("lab", "load", str(file)).exit_code == 1
    assert server.asked == []


class OneRecipe:
    """A server of one lab with one recipe on one system, which refuses contradictory reports."""

    COMMAND = {  # noqa: RUF012
        "id": 5,
        "kind": "provision",
        "system": "a.example.com",
        "recipe_id": 12,
        "tasks": [{"id": 31, "name": "/t"}],
        "guests": [],
    }

    def __init__(self, server: LoopbackServer, state: str = "waiting") -> None:
        self.state = state
        self.commands: dict[int, list[str]] = {5: []}
        self.heard: list[dict[str, Any]] = []
        self._lock = Lock()
        lab = "/lab-controllers/lab.example.com"
        labs = [{"fqdn": "lab.example.com", "enabled": True}, {"fqdn": "off.example.com", "enabled": False}]
        server.on("GET", "/lab-controllers", Answer({"lab_controllers": labs, "next": None}))
        server.on("GET", f"{lab}/commands", self._commands)
        server.on("POST", f"{lab}/updates", self.updates)
        server.on("GET", "/recipes/12", self._recipe)

    def _commands(self, asked: ReceivedRequest) -> Answer:
        new = int(asked.query["after"][0]) < self.COMMAND["id"]
        return Answer({"commands": [self.COMMAND] if new else []})

    def _recipe(self, _: ReceivedRequest) -> Answer:
        tasks = [{"task_id": 31, "state": "completed" if self.state == "completed" else "new"}]
        return Answer({"recipe_id": 12, "state": self.state, "system": "a.example.com", "tasks": tasks})

    def updates(self, asked: ReceivedRequest) -> Answer:
        return Answer({"items": [self._take(item) for item in asked.json()["items"]]})

    def _take(self, item: dict[str, Any]) -> dict[str, Any]:
        if "command" in item:
            self.commands[item["command"]["id"]].append(item["command"]["state"])
            return {"status": 200, "position": 0}
        return self._hear(item["progress"])

    def _hear(self, progress: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self.state in ("completed", "cancelled"):
                return {"status": 409, "title": "No", "detail": f"recipe/12 is {self.state}"}
            self.heard.append(progress)
            self.state = progress.get("state", self.state) if "result" not in progress else self.state
            if "task_id" in progress:
                self.state = "running"
            return {"status": 200, "position": len(self.heard)}


def simulate(run: Run) -> Result:
    return run("lab", "simulate", "--once", "--speed", "100000", "--json")


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_simulate__a_recipe_waits__it_is_run_to_its_end(server: LoopbackServer, run: Run) -> None:
    lab = OneRecipe(server)
    result = simulate(run)
    assert result.exit_code == 0
    assert lab.state == "completed"
    assert lab.heard[0] == {"recipe_id": 12, "state": "installing"}
    assert lab.commands[5][-1] == "completed"
    assert [line["what"] for line in lines(result)[:2]] == ["provision", "progress"]
    # Also for an admin: every request acts as the simulated lab controller.
    as_whom = {asked.path: asked.headers.get("Labledger-Acts-As") for asked in server.asked}
    assert as_whom.pop("/lab-controllers") is None
    assert set(as_whom.values()) == {"lab.example.com"}


POWER_PATH = "/lab-controllers/lab.example.com/power-settings/a.example.com"


def test_simulate__system_has_power_settings__says_their_type_and_not_the_secret(
    server: LoopbackServer, run: Run
) -> None:
    OneRecipe(server)
    settings = {"type": "ipmitool", "address": "a-mgmt", "port": None, "user": "ADMIN", "secret": "s3cret"}
    server.on("GET", POWER_PATH, Answer({"position": 1, **settings}))
    result = simulate(run)
    assert result.exit_code == 0, result.output
    (shown,) = (line for line in lines(result) if line["what"] == "provision")
    assert shown["power_type"] == "ipmitool"
    assert not any(value in result.output for value in ("s3cret", "a-mgmt", "ADMIN"))


def test_simulate__by_an_admin_who_gets_no_power_settings__says_so_once_and_goes_on(
    server: LoopbackServer, run: Run
) -> None:
    lab = OneRecipe(server)
    server.on("GET", POWER_PATH, Answer({"title": "Forbidden"}, 403))
    result = simulate(run)
    assert (result.exit_code, lab.state) == (0, "completed")
    assert [line["what"] for line in lines(result)[:2]] == ["no power settings", "provision"]
    assert len(server.asked_for("GET", POWER_PATH)) == 1


def test_simulate__started_again_after_the_end__reports_nothing(server: LoopbackServer, run: Run) -> None:
    lab = OneRecipe(server, state="completed")
    assert simulate(run).exit_code == 0
    assert lab.heard == []


def test_simulate__recipe_cancelled_meanwhile__stops_at_the_refusal(server: LoopbackServer, run: Run) -> None:
    lab = OneRecipe(server)

    def cancel(asked: ReceivedRequest) -> Answer:
        lab.state = "cancelled"
        return lab.updates(asked)

    server.on("POST", "/lab-controllers/lab.example.com/updates", cancel)
    result = simulate(run)
    assert result.exit_code == 0
    refused = [line for line in lines(result) if "refused" in line]
    assert refused[0]["refused"] == "recipe/12 is cancelled"
    assert len(server.asked_for("POST", "/lab-controllers/lab.example.com/updates")) == 1


def test_simulate__server_away_for_a_while__reports_everything_afterwards(
    server: LoopbackServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_agent, "PAUSE_SECONDS", 0.01)
    lab = OneRecipe(server)
    outage = iter([Answer({"title": "broken"}, 500), Answer({"items": [{"status": 503, "title": "away"}]})])
    server.on(
        "POST",
        "/lab-controllers/lab.example.com/updates",
        lambda asked: next(outage, None) or lab.updates(asked),
    )
    result = simulate(run)
    assert result.exit_code == 0
    assert lab.state == "completed"
    assert [line["what"] for line in lines(result)].count("waiting") == 2


def test_simulate__token_not_accepted__fails_at_once(server: LoopbackServer, run: Run) -> None:
    OneRecipe(server)
    server.on("GET", "/lab-controllers/lab.example.com/commands", Answer({"title": "Who are you?"}, 401))
    result = simulate(run)
    assert result.exit_code == 1
    assert "Who are you?" in result.stderr
