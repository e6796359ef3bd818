"""The simulated lab as a pure function, over many seeds and labs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.recipe.lifecycle import RECIPE, TASK
from replay.simulated_lab import Lab, UnknownKind, obey, resume
from replay.simulated_machine import Behaviour, Step

seeds = st.integers(0, 2**32)


@st.composite
def provisions(draw: st.DrawFn) -> dict[str, Any]:
    """A provision command: a host with up to 4 tasks and up to 2 guests with theirs."""
    ids = iter(range(100, 200))

    def tasks() -> list[dict[str, Any]]:
        return [{"id": next(ids), "name": "/t", "params": {}} for _ in range(draw(st.integers(1, 4)))]

    guests = [{"recipe_id": 13 + number, "tasks": tasks()} for number in range(draw(st.integers(0, 2)))]
    return {
        "id": draw(st.integers(1, 10**6)),
        "kind": "provision",
        "system": "a.example.com",
        "recipe_id": 12,
        "tasks": tasks(),
        "guests": guests,
    }


def provision(command_id: int, recipe_id: int, system: str) -> dict[str, Any]:
    tasks = [{"id": recipe_id * 10, "name": "/t"}, {"id": recipe_id * 10 + 1, "name": "/u"}]
    return {"id": command_id, "kind": "provision", "recipe_id": recipe_id, "system": system, "tasks": tasks}


def agenda(command: dict[str, Any], seed: int = 0, **behaviour: Any) -> tuple[Step, ...]:
    return obey(Lab(Behaviour(seed=seed, **behaviour)), command, 1000.0).agenda


@given(provisions(), seeds, st.floats(0, 100))
def test_provision__any_seed__every_recipe_lives_a_lawful_life(
    command: dict[str, Any], seed: int, trouble: float
) -> None:
    steps = agenda(command, seed, trouble_percent=trouble)
    for recipe in (command, *command["guests"]):
        own = [step.progress for step in steps if step.recipe_id == recipe["recipe_id"]]
        assert life_of(own) == "completed"
        assert [item["task_id"] for item in own if item.get("state") == "running"] == [
            task["id"] for task in recipe["tasks"]
        ]


def life_of(progress: list[Any]) -> str:
    """Take a recipe through its messages by the domain's own tables; the state it ends in."""
    state, tasks = "waiting", dict[int, str]()
    for item in progress:
        if "task_id" in item and "state" in item:
            if state == "installing":
                RECIPE.require("recipe", state, "running")
                state = "running"
            TASK.require("task", tasks.get(item["task_id"], "new"), item["state"])
            tasks[item["task_id"]] = item["state"]
        elif "result" in item:
            assert tasks[item["task_id"]] == "running"
        else:
            RECIPE.require("recipe", state, item["state"])
            state = item["state"]
    assert set(tasks.values()) == {"completed"}
    return state


@given(provisions(), seeds)
def test_provision__same_seed__same_messages(command: dict[str, Any], seed: int) -> None:
    assert agenda(command, seed) == agenda(command, seed)


def test_provision__other_seed__other_times() -> None:
    command = provision(1, 12, "a")
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
    order = [(step.recipe_id, step.progress.get("state")) for step in steps]
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
    lab = Lab(Behaviour())
    for running in (provision(1, 12, "a"), provision(2, 14, "b")):
        lab = obey(lab, running, 0.0)
    lab = obey(lab, {"id": 3, **command}, 1.0)
    assert {step.recipe_id for step in lab.agenda} == left


def test_obey__placed_again_elsewhere__former_system_is_silent() -> None:
    lab = obey(obey(Lab(Behaviour()), provision(1, 12, "a"), 0.0), provision(2, 12, "b"), 0.0)
    assert {step.system for step in lab.agenda} == {"b"}


def test_obey__stop_of_a_guest__host_goes_on() -> None:
    command = {**provision(1, 12, "a"), "guests": [{"recipe_id": 13, "tasks": [{"id": 1}]}]}
    lab = obey(obey(Lab(Behaviour()), command, 0.0), {"id": 2, "kind": "stop", "recipe_id": 13}, 0.0)
    assert {step.recipe_id for step in lab.agenda} == {12}


def test_obey__unknown_kind__is_refused() -> None:
    with pytest.raises(UnknownKind, match="teleport"):
        obey(Lab(Behaviour()), {"id": 1, "kind": "teleport"}, 0.0)


@given(provisions(), seeds, st.data())
def test_resume__after_any_number_of_messages__the_rest_is_said_at_once_and_lawfully(
    command: dict[str, Any], seed: int, data: st.DataObject
) -> None:
    """A crash between any two messages: what was heard and what is said again make a lawful life."""
    command = {**command, "guests": []}
    heard = agenda(command, seed)
    heard = heard[: data.draw(st.integers(0, len(heard) - 1))]
    lab = resume(obey(Lab(Behaviour(seed=seed)), command, 5000.0), as_known(command, heard), 5000.0)

    assert lab.agenda[0].due_seconds == pytest.approx(5000.0)
    known = {said(step) for step in heard}
    fresh = [step for step in lab.agenda if said(step) not in known]
    assert life_of([step.progress for step in (*heard, *fresh)]) == "completed"


def as_known(command: dict[str, Any], heard: tuple[Step, ...]) -> dict[str, Any]:
    """The recipe as the server shows it after these messages."""
    ended = {step.progress["task_id"] for step in heard if is_end(step)}
    begun = {step.progress["task_id"] for step in heard if step.progress.get("state") == "running"}
    state = "running" if begun else "installing" if heard else "waiting"
    tasks = [
        {
            "task_id": task["id"],
            "state": ("completed" if task["id"] in ended else "running" if task["id"] in begun else "new"),
        }
        for task in command["tasks"]
    ]
    return {"recipe_id": 12, "state": state, "system": command["system"], "tasks": tasks}


def is_end(step: Step) -> bool:
    return "task_id" in step.progress and step.progress.get("state") == "completed"


def said(step: Step) -> str:
    return repr((step.recipe_id, sorted(step.progress.items(), key=repr)))


@pytest.mark.parametrize(
    "recipe",
    [
        {"state": "completed", "system": "a"},  # finished while nobody listened
        {"state": "reserved", "system": "a"},  # a person's turn
        {"state": "queued", "system": None},  # withdrawn
        {"state": "running", "system": "b"},  # placed again elsewhere
    ],
)
def test_resume__recipe_not_ours_any_more__nothing_is_said(recipe: dict[str, Any]) -> None:
    lab = obey(Lab(Behaviour()), provision(1, 12, "a"), 0.0)
    assert resume(lab, {"recipe_id": 12, "tasks": [], **recipe}, 0.0).agenda == ()
