"""What one simulated machine says while it runs a recipe, and its guests theirs: timed progress messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

Command = Mapping[str, Any]
Progress = Mapping[str, Any]


@dataclass(frozen=True)
class Behaviour:
    """How the simulated machines do. Ranges are seconds of a real machine, `speed` shortens them all."""

    seed: int = 0
    speed: float = 1.0
    trouble_percent: float = 0.0
    boot_seconds: tuple[float, float] = (30.0, 120.0)
    install_seconds: tuple[float, float] = (300.0, 900.0)
    result_seconds: tuple[float, float] = (20.0, 300.0)
    most_results: int = 3


@dataclass(frozen=True)
class Step:
    """A message about a recipe, due at a time. `host_recipe_id` is the recipe's own unless it is a guest."""

    due_seconds: float
    recipe_id: int
    host_recipe_id: int
    system: str
    progress: Progress = field(hash=False)


def life(command: Command, behaviour: Behaviour, now_seconds: float) -> Iterator[Step]:
    """A host's steps and its guests'. They begin with its first task, it ends after the last of them."""
    host = int(command["recipe_id"])
    system = str(command["system"])

    def steps(recipe_id: int, timed: Sequence[tuple[float, Progress]]) -> Iterator[Step]:
        for due, progress in timed:
            yield Step(due, recipe_id, host, system, progress)

    own = _timeline(host, command, behaviour, now_seconds)
    up = next((due for due, progress in own if progress.get("state") == "running"), own[-1][0])
    end, farewell = own[-1]
    yield from steps(host, own[:-1])
    for guest in command.get("guests") or ():
        guest_id = int(guest["recipe_id"])
        theirs = _timeline(guest_id, {**guest, "id": command["id"]}, behaviour, up)
        yield from steps(guest_id, theirs)
        end = max(end, theirs[-1][0])
    yield from steps(host, [(end, farewell)])


def _timeline(
    recipe_id: int, order: Command, behaviour: Behaviour, begin_seconds: float
) -> list[tuple[float, Progress]]:
    """The timed messages of one recipe, host or guest."""
    chance = Random(f"{behaviour.seed}/{order['id']}/{recipe_id}")
    now = begin_seconds

    def after(seconds: tuple[float, float]) -> float:
        nonlocal now
        now += chance.uniform(*seconds) / behaviour.speed
        return now

    said: list[tuple[float, Progress]] = [(after(behaviour.boot_seconds), {"state": "installing"})]
    after(behaviour.install_seconds)
    for task in order.get("tasks") or ():
        task_id = int(task["id"])
        said.append((now, {"state": "running", "task_id": task_id}))
        for number in range(1, chance.randint(1, behaviour.most_results) + 1):
            result = _result(task_id, number, chance, behaviour)
            said.append((after(behaviour.result_seconds), result))
        said.append((now, {"task_id": task_id, "state": "completed"}))
    said.append((now, {"state": "completed"}))
    return said


def _result(task_id: int, number: int, chance: Random, behaviour: Behaviour) -> Progress:
    troubled = chance.uniform(0, 100) < behaviour.trouble_percent
    outcome = chance.choice(("Warn", "Fail", "Panic")) if troubled else "Pass"
    return {"task_id": task_id, "result": outcome, "message": f"simulated result {number}", "score": number}
