"""The life of one recipe on a sound machine, and the faults that cut it short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.log_text import log_of
from replay.simulated_lab.steps import Command, Progress

Timed = tuple[float, Progress]

# The parameter with which a task of a job chooses its last result, and the results that it can choose.
RESULT_PARAMETER = "SIMULATED_RESULT"
RESULTS = ("Pass", "Warn", "Fail", "Panic")

# Faults of a machine, worst first: only the worst one happens. A guest is no machine.
FAULTS = ("break", "fail", "stall")
GUEST_FAULTS = ("fail", "stall")


@dataclass(frozen=True)
class Life:
    """The messages up to the end, and the fault that brings the end, if any."""

    messages: tuple[Timed, ...] = field(hash=False)
    end_seconds: float
    fault: str | None = None

    @property
    def begun_seconds(self) -> float | None:
        """Return the start of the first task, None if none starts."""
        return next((due for due, progress in self.messages if progress.get("state") == "running"), None)


def timeline(recipe_id: int, order: Command, behaviour: Behaviour, begin_seconds: float) -> Life:
    """Return the messages of one recipe, host or guest, from its installation to the end of its last task."""
    chance = Random(f"{behaviour.seed}/{order['id']}/{recipe_id}")
    now = begin_seconds

    def after(seconds: tuple[float, float]) -> float:
        nonlocal now
        now += chance.uniform(*seconds) / behaviour.speed
        return now

    messages: list[Timed] = [(after(behaviour.boot_seconds), {"state": "installing"})]
    messages += _watched(now, behaviour)
    after(behaviour.install_seconds)
    for task in order.get("tasks") or ():
        task_id = int(task["id"])
        messages.append((now, {"state": "running", "task_id": task_id}))
        messages += _watched(now, behaviour)
        last = chance.randint(1, behaviour.max_results)
        for number in range(1, last + 1):
            outcome = _outcome(chance, behaviour)
            outcome = (_chosen_result(task) or outcome) if number == last else outcome
            result = _result(recipe_id, task_id, number, outcome, behaviour)
            messages.append((after(behaviour.result_seconds), result))
        messages.append((now, {"task_id": task_id, "state": "completed"}))
    return Life(tuple(messages), now)


def strike(life: Life, faults: tuple[str, ...], behaviour: Behaviour, *about: object) -> Life:
    """Return a life up to a fault, if any: at least one message, and no start without its watchdog."""
    fault = next((fault for fault in faults if behaviour.happens(fault, *about)), None)
    if fault is None:
        return life
    chance = behaviour.chance("struck", *about)
    last = chance.randint(1, len(life.messages))
    if last < len(life.messages) and "watchdog_seconds" in life.messages[last][1]:
        last += 1
    following = [due for due, _ in life.messages[last:]] + [life.end_seconds]
    return Life(life.messages[:last], chance.uniform(life.messages[last - 1][0], following[0]), fault)


def _watched(now_seconds: float, behaviour: Behaviour) -> Iterator[Timed]:
    if behaviour.watchdog_seconds is not None:
        yield now_seconds, {"watchdog_seconds": behaviour.watchdog_seconds}


def _outcome(chance: Random, behaviour: Behaviour) -> str:
    troubled = chance.uniform(0, 100) < behaviour.trouble_percent
    return chance.choice(("Warn", "Fail", "Panic")) if troubled else "Pass"


def _chosen_result(task: Mapping[str, Any]) -> str | None:
    chosen = (task.get("params") or {}).get(RESULT_PARAMETER)
    return chosen if chosen in RESULTS else None


def _result(recipe_id: int, task_id: int, number: int, outcome: str, behaviour: Behaviour) -> Progress:
    result = {"task_id": task_id, "result": outcome, "message": f"simulated result {number}", "score": number}
    if behaviour.logs_url is None:
        return result
    return {**result, "logs": [log_of(behaviour.logs_url, recipe_id, task_id, number, outcome)]}
