"""Messages of a lab that lost its memory, or was away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.lab import SimulatedLab, obey
from replay.simulated_lab.recovery import recall, resume, under_way
from replay.simulated_lab.steps import LabStep
from tests.replay.commands import agenda, of_kind, provision, provisions, seeds
from tests.replay.lives import life_of, said


def release(command_id: int, recipe_id: int | None, system: str = "a", **more: Any) -> dict[str, Any]:
    return {"id": command_id, "kind": "release", "recipe_id": recipe_id, "system": system, **more}


@pytest.mark.parametrize(
    ("commands", "left"),
    [
        ([provision(1, 12, "a"), provision(2, 14, "b")], [1, 2]),
        ([provision(1, 12, "a"), release(2, 12)], []),  # it has ended
        ([provision(1, 12, "a"), release(2, 99, "z")], [1]),  # somebody else has
        ([provision(1, 12, "a"), provision(2, 14, "a")], [2]),  # the system went on to the next
        ([provision(1, 12, "a"), provision(2, 12, "b")], [2]),  # placed again elsewhere
        ([provision(1, 12, "a"), provision(2, 12, "b"), release(3, 12, "a")], [2]),  # a late release
        ([provision(1, None, "a"), release(2, None)], []),  # a person has returned it
        ([provision(1, None, "a", state="completed")], []),  # a person works on it
        ([provision(1, None, "a", state="running")], [1]),
    ],
)
def test_under_way__old_commands__the_last_of_each_system(
    commands: list[dict[str, Any]], left: list[int]
) -> None:
    assert [command["id"] for command in under_way(commands)] == left


def test_under_way__guest_was_stopped__does_not_come_back() -> None:
    host = provision(1, 12, "a", guests=[{"recipe_id": 13}, {"recipe_id": 14}])
    stop = {"id": 2, "kind": "stop", "recipe_id": 13, "system": "a"}
    (command,) = under_way([host, stop])
    assert command["guests"] == [{"recipe_id": 14}]


def test_recall__old_commands__reports_only_on_open_ones() -> None:
    old = [
        provision(1, 12, "a", state="completed"),
        release(2, 12, state="completed"),
        provision(3, 14, "b", state="queued"),
        release(4, 15, "c", state="running"),
        release(5, 16, "d", state="queued"),
        provision(6, 17, "e", state="completed"),
        release(7, 18, "f"),
    ]
    lab = recall(Behaviour(), old, 0.0)
    reports = [(step.command, step.body["state"]) for step in of_kind(lab.agenda, "command")]
    assert sorted(reports) == [(3, "completed"), (4, "completed"), (5, "completed"), (5, "running")]
    assert {step.recipe_id for step in of_kind(lab.agenda, "progress")} == {14, 17}


def test_recall__system_was_broken_and_released__is_still_repaired() -> None:
    old = [provision(1, 12, "a", state="completed"), release(2, 12, state="completed")]
    lab = recall(Behaviour(break_percent=100), old, 0.0)
    assert [step.body["condition"] for step in lab.agenda] == ["Automated"]


@pytest.mark.parametrize(("stop_id", "again_id", "system"), [(2, 3, "a"), (2, 3, "b"), (3, 2, "b")])
def test_recall__preempted_and_placed_again__the_old_stop_ends_nothing(
    stop_id: int, again_id: int, system: str
) -> None:
    stop = {"id": stop_id, "kind": "stop", "recipe_id": 12, "system": "a", "state": "completed"}
    old = [provision(1, 12, "a"), stop, provision(again_id, 12, system, state="completed")]
    lab = recall(Behaviour(), sorted(old, key=lambda one: one["id"]), 0.0)
    assert {step.system for step in of_kind(lab.agenda, "progress")} == {system}
    assert {step.system for step in of_kind(lab.agenda, "vacant")} == {"a"} - {system}


def test_recall__lab_that_vanishes__does_not_vanish_again_for_the_same_command() -> None:
    lab = recall(Behaviour(vanish_percent=100), [provision(1, 12, "a")], 0.0)
    assert of_kind(lab.agenda, "silence") == []


@given(provisions(), seeds, st.data())
def test_resume__after_any_number_of_messages__the_rest_is_said_at_once_and_lawfully(
    command: dict[str, Any], seed: int, data: st.DataObject
) -> None:
    """A crash between any two messages: the messages before and after it make a valid life together."""
    command = {**command, "guests": []}
    heard = tuple(of_kind(agenda(command, seed), "progress"))
    heard = heard[: data.draw(st.integers(0, len(heard) - 1))]
    lab = recall(Behaviour(seed=seed), [{**command, "state": "completed"}], 5000.0)
    lab = resume(lab, as_server(command, heard), 5000.0)

    assert lab.agenda[0].due_seconds == pytest.approx(5000.0)
    heard_before = {said(step) for step in heard}
    fresh = [step for step in lab.agenda if said(step) not in heard_before]
    assert life_of([step.body for step in (*heard, *fresh)]) == "completed"


def as_server(command: dict[str, Any], heard: tuple[LabStep, ...]) -> dict[str, Any]:
    """Return the recipe as the server shows it after these messages."""
    ended = {step.body["task_id"] for step in heard if is_end(step)}
    begun = {step.body["task_id"] for step in heard if step.body.get("state") == "running"}
    state = "running" if begun else "installing" if heard else "waiting"
    tasks = [
        {
            "task_id": task["id"],
            "state": ("completed" if task["id"] in ended else "running" if task["id"] in begun else "new"),
        }
        for task in command["tasks"]
    ]
    return {"recipe_id": 12, "state": state, "system": command["system"], "tasks": tasks}


def is_end(step: LabStep) -> bool:
    return "task_id" in step.body and step.body.get("state") == "completed"


@pytest.mark.parametrize(
    "recipe",
    [
        {"state": "completed", "system": "a"},  # finished while nobody listened
        {"state": "reserved", "system": "a"},  # a person's turn
        {"state": "queued", "system": None},  # withdrawn
        {"state": "running", "system": "b"},  # placed again elsewhere
    ],
)
def test_resume__recipe_not_ours_any_more__no_violation(recipe: dict[str, Any]) -> None:
    lab = obey(SimulatedLab(Behaviour()), provision(1, 12, "a", state="completed"), 0.0)
    assert resume(lab, {"recipe_id": 12, "tasks": [], **recipe}, 0.0).agenda == ()
