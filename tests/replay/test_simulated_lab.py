"""The simulated lab as a pure function, over many seeds and labs."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.lab import SimulatedLab, obey
from replay.simulated_lab.log_text import text_at
from replay.simulated_lab.timeline import RESULT_PARAMETER
from tests.replay.commands import agenda, behaviours, of_kind, provision, provisions, seeds
from tests.replay.lives import life_of, said


@given(provisions(), seeds, st.floats(0, 100))
def test_provision__any_seed__every_recipe_lives_a_lawful_life(
    command: dict[str, Any], seed: int, trouble: float
) -> None:
    steps = agenda(command, seed, trouble_percent=trouble)
    for recipe in (command, *command["guests"]):
        own = [step.body for step in of_kind(steps, "progress") if step.recipe_id == recipe["recipe_id"]]
        assert life_of(own) == "completed"
        assert [item["task_id"] for item in own if item.get("state") == "running"] == [
            task["id"] for task in recipe["tasks"]
        ]


@given(provisions(), behaviours())
def test_provision__same_seed_and_faults__same_messages(
    command: dict[str, Any], behaviour: Behaviour
) -> None:
    once, again = (obey(SimulatedLab(behaviour), command, 1000.0).agenda for _ in range(2))
    assert once == again
    assert [step.body for step in once] == [step.body for step in again]


def test_provision__other_seed__other_times() -> None:
    command = provision(1, 12)
    assert agenda(command, 1) != agenda(command, 2)


@given(provisions(), seeds, st.floats(0.1, 1000))
def test_provision__faster__same_messages_sooner(command: dict[str, Any], seed: int, speed: float) -> None:
    real, fast = agenda(command, seed), agenda(command, seed, speed=speed)
    assert sorted(map(said, real)) == sorted(map(said, fast))
    assert (fast[-1].due_seconds - 1000) * speed == pytest.approx(real[-1].due_seconds - 1000)


@given(provisions(), seeds)
def test_provision__with_guests__host_is_up_before_and_ends_after_them(
    command: dict[str, Any], seed: int
) -> None:
    steps = agenda(command, seed)
    assert [step.due_seconds for step in steps] == sorted(step.due_seconds for step in steps)
    order = [(step.recipe_id, step.body.get("state")) for step in of_kind(steps, "progress")]
    up = order.index((12, "running"))
    guests = [number for number, (recipe_id, _) in enumerate(order) if recipe_id != 12]
    assert all(up < number < len(order) - 1 for number in guests)
    assert order[-1] == (12, "completed")


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ({"kind": "stop", "recipe_id": 12, "system": "a"}, {14}),  # that recipe alone
        ({"kind": "release", "recipe_id": 12, "system": "a"}, {14}),
        ({"kind": "release", "system": "b"}, {12}),  # no recipe named: the system's
        ({"kind": "stop", "recipe_id": 99, "system": "z"}, {12, 14}),  # it has ended already
        ({"kind": "power", "action": "off", "system": "a"}, {12, 14}),
        ({"kind": "clear_netboot", "system": "a"}, {12, 14}),
        (provision(9, 15, "a"), {14, 15}),  # its former recipe cannot go on there
        (provision(9, 12, "c"), {12, 14}),  # placed again elsewhere
    ],
)
def test_obey__two_recipes_under_way__only_those_meant_end(command: dict[str, Any], left: set[int]) -> None:
    lab = SimulatedLab(Behaviour())
    for running in (provision(1, 12, "a"), provision(2, 14, "b")):
        lab = obey(lab, running, 0.0)
    lab = obey(lab, {"id": 3, **command}, 1.0)
    assert {step.recipe_id for step in of_kind(lab.agenda, "progress")} == left


def test_obey__placed_again_elsewhere__former_system_is_silent() -> None:
    lab = obey(obey(SimulatedLab(Behaviour()), provision(1, 12, "a"), 0.0), provision(2, 12, "b"), 0.0)
    assert {step.system for step in of_kind(lab.agenda, "progress")} == {"b"}


def test_obey__stop_of_a_guest__host_goes_on() -> None:
    command = {**provision(1, 12, "a"), "guests": [{"recipe_id": 13, "tasks": [{"id": 1}]}]}
    lab = obey(
        obey(SimulatedLab(Behaviour()), command, 0.0),
        {"id": 2, "kind": "stop", "recipe_id": 13, "system": "a"},
        0.0,
    )
    assert {step.recipe_id for step in of_kind(lab.agenda, "progress")} == {12}


def test_obey__unknown_kind__is_reported_failed() -> None:
    _, failed = obey(SimulatedLab(Behaviour()), {"id": 1, "kind": "teleport"}, 0.0).agenda
    assert failed.body == {"state": "failed", "reason": "unknown kind of command: teleport"}


@pytest.mark.parametrize(
    ("state", "said"),
    [("queued", ["running", "completed"]), ("running", ["completed"]), ("completed", []), ("failed", [])],
)
def test_obey__command_in_a_state__only_what_is_left_is_reported(state: str, said: list[str]) -> None:
    lab = obey(SimulatedLab(Behaviour()), {"id": 1, "kind": "power", "system": "a", "state": state}, 0.0)
    assert [step.body["state"] for step in lab.agenda] == said


@pytest.mark.parametrize("result", ["Pass", "Warn", "Fail", "Panic"])
@pytest.mark.parametrize("trouble", [0, 100])
def test_provision__task_chooses_its_result__its_last_one_is_that(result: str, trouble: int) -> None:
    tasks = [{"id": 1, "params": {RESULT_PARAMETER: result}}, {"id": 2, "params": {RESULT_PARAMETER: "?"}}]
    steps = agenda(provision(1, 12, tasks=tasks), trouble_percent=trouble)
    of_task = {
        step.body["task_id"]: step.body["result"]
        for step in of_kind(steps, "progress")
        if "result" in step.body
    }
    assert of_task[1] == result
    assert (of_task[2] == "Pass") == (trouble == 0)


def test_result__lab_with_a_log_server__log_has_the_size_and_hash_of_its_text() -> None:
    url = "http://lab.example.com"
    steps = agenda(provision(1, 12, tasks=[{"id": 1}]), logs_url=f"{url}/")
    (log,) = next(step.body["logs"] for step in steps if "result" in step.body)
    text = (text_at(log["url"].removeprefix(url)) or "").encode()
    assert b"recipe 12, task 1" in text
    assert (len(text), hashlib.sha256(text).hexdigest()) == (log["size_bytes"], log["sha256"])
    assert text_at("/recipe-12/task-1/1-Pass/other.log") is None
