"""Commands for a lab controller, and the messages of a lab that gets them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.lab import SimulatedLab, obey
from replay.simulated_lab.steps import LabStep

SYSTEM = "a.example.com"
FAULTS = ("stall", "fail", "break", "vanish", "repeat", "reorder")
seeds = st.integers(0, 2**32)
percents = st.sampled_from((0.0, 10.0, 50.0, 100.0))


@st.composite
def provisions(draw: st.DrawFn, max_guests: int = 2) -> dict[str, Any]:
    """Draw a provision command: a host with up to 4 tasks, and guests with theirs."""
    ids = iter(range(100, 200))

    def tasks() -> list[dict[str, Any]]:
        return [{"id": next(ids), "name": "/t", "params": {}} for _ in range(draw(st.integers(1, 4)))]

    guests = range(draw(st.integers(0, max_guests)))
    return {
        "id": draw(st.integers(1, 10**6)),
        "kind": "provision",
        "system": SYSTEM,
        "recipe_id": 12,
        "tasks": tasks(),
        "guests": [{"recipe_id": 13 + number, "tasks": tasks()} for number in guests],
    }


@st.composite
def behaviours(draw: st.DrawFn, *, faults: tuple[str, ...] = FAULTS, speed: float = 1.0) -> Behaviour:
    """Draw any seed, with a percentage for each of the faults."""
    chances = {f"{fault}_percent": draw(percents) for fault in faults}
    return Behaviour(seed=draw(seeds), speed=speed, trouble_percent=draw(percents), **chances)


def provision(command_id: int, recipe_id: int | None, system: str = SYSTEM, **more: Any) -> dict[str, Any]:
    number = recipe_id or 0
    tasks = [{"id": number * 10, "name": "/t"}, {"id": number * 10 + 1, "name": "/u"}]
    made = {"id": command_id, "kind": "provision", "recipe_id": recipe_id, "system": system, **more}
    return made if recipe_id is None else {"tasks": tasks, **made}


def agenda(command: dict[str, Any], seed: int = 0, **behaviour: Any) -> tuple[LabStep, ...]:
    return obey(SimulatedLab(Behaviour(seed=seed, **behaviour)), command, 1000.0).agenda


def of_kind(steps: tuple[LabStep, ...], kind: str) -> list[LabStep]:
    return [step for step in steps if step.kind == kind]
