"""Every fault happens when it is requested and only then, and the lab copes with its own disorder."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.delivery import next_delivery
from replay.simulated_lab.lab import SimulatedLab, obey
from replay.simulated_lab.steps import LabStep
from tests.replay.commands import SYSTEM, agenda, behaviours, of_kind, percents, provision, provisions, seeds
from tests.replay.listening import Listener, converse

FOREVER = 10.0**9


def said(steps: tuple[LabStep, ...], recipe_id: int) -> list[Any]:
    return [step.body for step in steps if step.recipe_id == recipe_id and step.kind == "progress"]


@given(provisions(), seeds)
def test_faults__at_0_percent__none_happens(command: dict[str, Any], seed: int) -> None:
    steps = agenda(command, seed)
    assert {step.kind for step in steps} == {"command", "progress"}
    assert [step.body["state"] for step in of_kind(steps, "command")] == ["running", "completed"]
    assert not any(step.late for step in steps)
    for recipe in (command, *command["guests"]):
        assert said(steps, recipe["recipe_id"])[-1] == {"state": "completed"}
    lab = SimulatedLab(Behaviour(seed=seed), steps)
    delivery = next_delivery(lab, FOREVER, 1000)
    assert delivery is not None
    assert not delivery.repeated
    assert not delivery.twice


@given(provisions(), seeds)
def test_stall__at_100_percent__machine_falls_silent(command: dict[str, Any], seed: int) -> None:
    steps = agenda(command, seed, stall_percent=100)
    for recipe in (command, *command["guests"]):
        assert not any(one.get("state") == "aborted" for one in said(steps, recipe["recipe_id"]))
        assert {"state": "completed"} not in said(steps, recipe["recipe_id"])
    assert said(steps, 12)[0] == {"state": "installing"}
    assert {step.kind for step in steps} == {"command", "progress"}


@given(provisions(), seeds)
def test_fail__at_100_percent__command_failed_or_recipe_aborted_with_a_reason(
    command: dict[str, Any], seed: int
) -> None:
    steps = agenda(command, seed, fail_percent=100)
    begun = any(one.get("state") == "running" for one in said(steps, 12))
    last = of_kind(steps, "progress" if begun else "command")[-1]
    assert last.body["state"] == ("aborted" if begun else "failed")
    assert last.body["reason"]
    assert steps[-1] == last


def test_fail__before_and_after_the_first_task__both_occur() -> None:
    lives = [agenda(provision(number, 12), fail_percent=100) for number in range(40)]
    assert {life[-1].kind for life in lives} == {"command", "progress"}


@given(provisions(), seeds)
def test_break__at_100_percent__system_is_broken_then_repaired(command: dict[str, Any], seed: int) -> None:
    steps = agenda(command, seed, break_percent=100)
    broken, repaired = of_kind(steps, "system")
    assert (broken.body["condition"], repaired.body["condition"]) == ("Broken", "Automated")
    assert broken.body["reason"]
    assert all(step.due_seconds <= broken.due_seconds for step in of_kind(steps, "progress"))
    assert steps[-1] == repaired


def test_break__recipe_is_released__system_is_repaired_all_the_same() -> None:
    lab = obey(SimulatedLab(Behaviour(break_percent=100)), provision(1, 12), 0.0)
    lab = obey(lab, {"id": 2, "kind": "release", "recipe_id": 12, "system": SYSTEM}, 0.0)
    assert [step.body["condition"] for step in of_kind(lab.agenda, "system")] == ["Automated"]


@given(provisions(), seeds)
def test_vanish__at_100_percent__is_silent_within_the_life(command: dict[str, Any], seed: int) -> None:
    steps = agenda(command, seed, vanish_percent=100)
    (silence,) = of_kind(steps, "silence")
    assert silence.body["seconds"] > 0
    dues = [step.due_seconds for step in of_kind(steps, "progress")]
    assert min(dues) <= silence.due_seconds <= max(dues)


def test_vanish__many_times__memory_is_sometimes_lost() -> None:
    lost = {
        step.body["forgets"]
        for number in range(20)
        for step in of_kind(agenda(provision(number, 12), vanish_percent=100), "silence")
    }
    assert lost == {True, False}


@given(provisions(), seeds)
def test_repeat__at_100_percent__every_message_is_said_again(command: dict[str, Any], seed: int) -> None:
    lab = obey(SimulatedLab(Behaviour(seed=seed, repeat_percent=100)), command, 0.0)
    report = next_delivery(lab, FOREVER, 1000)
    assert report is not None
    assert report.twice
    progress = next_delivery(lab.without(lambda step: step.kind == "command"), FOREVER, 1000)
    assert progress is not None
    assert progress.twice
    assert progress.repeated == progress.steps


@given(provisions(), seeds)
def test_reorder__at_100_percent__some_message_is_overtaken(command: dict[str, Any], seed: int) -> None:
    steps = agenda(command, seed, reorder_percent=100)
    late = [step for step in steps if step.late]
    assert late
    for step in late:
        before = steps[steps.index(step) - 1]
        assert (before.recipe_id, before.number) == (step.recipe_id, step.number + 1)


@given(provisions(), behaviours(faults=("repeat", "reorder")), st.integers(1, 30), st.booleans())
def test_disorder__any__server_hears_every_message_once_and_lawfully(
    command: dict[str, Any], behaviour: Behaviour, limit: int, at_once: bool
) -> None:
    lab = obey(SimulatedLab(behaviour), command, 0.0)
    listener = Listener()
    moments = [FOREVER] if at_once else sorted({step.due_seconds for step in lab.agenda})

    left = converse(lab, listener, limit, moments)

    assert left.agenda == ()
    assert listener.contradicted == []
    assert len(listener.heard) == len(lab.agenda)
    assert set(listener.recipes.values()) == {"completed"}
    assert set(listener.tasks.values()) == {"completed"}
    for recipe_id in listener.recipes:
        ours = [step for step in listener.heard if step.recipe_id == recipe_id]
        assert ours[0].body == {"state": "installing"}
        assert ours[-1].body == {"state": "completed"}


@given(provisions(), behaviours())
def test_faults__any__guests_begin_after_the_hosts_first_task(
    command: dict[str, Any], behaviour: Behaviour
) -> None:
    lab = obey(SimulatedLab(behaviour), command, 0.0).without(lambda step: step.kind == "silence")
    listener = Listener()
    converse(lab, listener, 10, sorted({step.due_seconds for step in lab.agenda}))
    order = [(step.recipe_id, step.body.get("state")) for step in listener.heard]
    guests = [place for place, (recipe_id, _) in enumerate(order) if recipe_id not in (12, None)]
    assert all(order.index((12, "running")) < place for place in guests)
    assert listener.contradicted == []


@given(provisions(), behaviours(), st.sampled_from(("stall", "fail", "repeat", "reorder")), percents)
def test_faults__one_raised__durations_stay(
    command: dict[str, Any], behaviour: Behaviour, fault: str, percent: float
) -> None:
    """The messages before the fault equal those without it."""
    faulty = Behaviour(seed=behaviour.seed, **{f"{fault}_percent": percent})
    first, same = (
        first_message(obey(SimulatedLab(how), command, 0.0)) for how in (Behaviour(behaviour.seed), faulty)
    )
    assert same.late or same.due_seconds == first.due_seconds


def first_message(lab: SimulatedLab) -> LabStep:
    return next(step for step in lab.agenda if step.body == {"state": "installing"} and step.recipe_id == 12)


@pytest.mark.parametrize(
    ("fault", "reports", "conditions"),
    [
        (None, ["running", "completed"], []),
        ("stall", ["running"], []),
        ("fail", ["running", "failed"], []),
        ("break", ["running"], ["Broken", "Automated"]),
    ],
)
def test_reservation__each_fault__command_says_it_all(
    fault: str | None, reports: list[str], conditions: list[str]
) -> None:
    steps = agenda(provision(1, None), **({f"{fault}_percent": 100} if fault else {}))
    assert [step.body["state"] for step in of_kind(steps, "command")] == reports
    assert [step.body["condition"] for step in of_kind(steps, "system")] == conditions
    assert of_kind(steps, "progress") == []


def test_watchdog__asked_for__is_set_with_the_installation_and_each_task() -> None:
    steps = agenda(provision(1, 12), watchdog_seconds=60)
    bodies = said(steps, 12)
    assert bodies[:2] == [{"state": "installing"}, {"watchdog_seconds": 60}]
    assert bodies.count({"watchdog_seconds": 60}) == 3


@given(provisions(), seeds, percents)
def test_watchdog__machine_stalls_and_messages_overtake__set_behind_every_start(
    command: dict[str, Any], seed: int, reorder_percent: float
) -> None:
    """A start resets the watchdog, so a watchdog message before the start has no effect."""
    faults = {"stall_percent": 100, "reorder_percent": reorder_percent}
    steps = agenda(command, seed, watchdog_seconds=60, **faults)
    for recipe in (command, *command["guests"]):
        bodies = said(steps, recipe["recipe_id"])
        starts = [
            place for place, body in enumerate(bodies) if body.get("state") in ("installing", "running")
        ]
        assert not starts or {"watchdog_seconds": 60} in bodies[max(starts) :]
