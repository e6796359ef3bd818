"""`lab generate`, `lab load` and `lab submit`: a lab and its jobs from a seed to the server."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from cli.lab.screen import Board
from tests.cli.loopback import Answer, LoopbackServer, ReceivedRequest

Run = Callable[..., Result]
LAB = ("lab", "generate", "--labs", "2", "--systems", "9", "--seed", "3")


def test_generate__same_options__same_lab_that_can_be_loaded(server: LoopbackServer, run: Run) -> None:
    first, again = run(*LAB), run(*LAB)
    assert (first.exit_code, first.stdout) == (0, again.stdout)
    document = json.loads(first.stdout)
    for section, key in (
        ("users", "name"),
        ("groups", "name"),
        ("pools", "name"),
        ("lab_controllers", "fqdn"),
    ):
        for item in document[section]:
            server.on("PUT", f"/{section.replace('_', '-')}/{item[key]}", Answer({}))
    for pool in document["pools"]:
        server.on("PUT", f"/pools/{pool['name']}/access-policy", Answer({}))
    for tree in document["distro_trees"]:
        server.on("PUT", f"/distro-trees/{tree['id']}", Answer({}))
    server.on("GET", "/systems", Answer({"position": 1, "systems": [], "next": None}))
    server.on("GET", "/partitions", Answer({"partitions": [{"name": "default", "lab_controllers": []}]}))
    said = {"added": 9, "changed": 0, "kept": 0, "systems": []}
    server.on("POST", "/inventory", Answer(said))
    loaded = run("lab", "load", "-", "--json", input=first.stdout)
    assert loaded.exit_code == 0, loaded.output
    assert json.loads(loaded.stdout)["sections"][-1]["added"] == 9


def test_generate__jobs__one_a_line_for_submit(server: LoopbackServer, run: Run) -> None:
    made = run(*LAB, "--jobs", "5")
    taken: list[ReceivedRequest] = []

    def take(asked: ReceivedRequest) -> Answer:
        taken.append(asked)
        return Answer({"job_id": len(taken), "recipe_ids": [len(taken)]}, 201)

    server.on("POST", "/jobs", take)
    result = run("lab", "submit", "-", input=made.stdout)
    assert (result.exit_code, result.stdout) == (0, "5 jobs submitted\n")
    assert [asked.json() for asked in taken] == [json.loads(line) for line in made.stdout.splitlines()]


def test_submit__one_is_refused__others_are_not_kept_back(server: LoopbackServer, run: Run) -> None:
    refusal = Answer({"title": "Invalid input"}, 422)
    server.on("POST", "/jobs", Answer({"job_id": 1}, 201), refusal, Answer({"job_id": 2}, 201))
    result = run("lab", "submit", "-", "--json", input='{"a": 1}\n\n{"b": 2}\n{"c": 3}\n')
    assert result.exit_code == 1
    assert [json.loads(line)["line"] for line in result.stdout.splitlines()] == [1, 4]
    refused = json.loads(result.stderr)
    assert (refused["where"], refused["title"]) == ("line 3", "Invalid input")


@pytest.mark.parametrize(
    ("doing", "column"),
    [
        ({"what": "provision"}, "commands"),
        ({"what": "progress", "state": "installing"}, "installing"),
        ({"what": "progress", "state": "completed"}, "completed"),
        ({"what": "progress", "state": "aborted", "refused": "no"}, "refused"),
        ({"what": "system", "condition": "Broken"}, "broken"),
    ],
)
def test_board__something_happens__is_counted(doing: dict[str, str], column: str) -> None:
    board = Board()
    board.add({"lab_controller": "lab", **doing}, "line")
    assert board.counts["lab"][column] == 1
    assert board.latest[0] == "line"


@pytest.mark.parametrize(
    "doing",
    [{"what": "progress", "task_id": "1", "state": "completed"}, {"what": "overtook", "refused": "not yet"}],
)
def test_board__task_ends_or_message_overtakes__no_recipe_is_counted(doing: dict[str, str]) -> None:
    board = Board()
    board.add({"lab_controller": "lab", **doing}, "line")
    assert board.counts["lab"]["completed"] == board.counts["lab"]["refused"] == 0
