"""A server reduced to the messages that it accepts from a lab, by the tables of the domain alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from domain.errors import Refused
from domain.recipe.lifecycle import FINISHED, RECIPE, TASK
from replay.simulated_lab.delivery import apply_answers, next_delivery
from replay.simulated_lab.lab import SimulatedLab
from replay.simulated_lab.steps import LabStep


@dataclass
class Listener:
    """Accepts messages. `heard` contains the new ones in the order of acceptance."""

    recipes: dict[int, str] = field(default_factory=dict)
    hosts: dict[int, int] = field(default_factory=dict)
    tasks: dict[int, str] = field(default_factory=dict)
    heard: list[LabStep] = field(default_factory=list)
    contradicted: list[LabStep] = field(default_factory=list)
    said: int = 0

    def hear(self, step: LabStep) -> int:
        self.said += 1
        if step in self.heard or step.kind != "progress":
            self.heard += [step] if step not in self.heard else []
            return 200
        try:
            self._take(step)
        except Refused:
            return 409
        self.heard.append(step)
        return 200

    def _take(self, step: LabStep) -> None:
        assert step.recipe_id is not None and step.host_recipe_id is not None
        body, recipe_id = step.body, step.recipe_id
        before = self.recipes.setdefault(recipe_id, "waiting")
        if "watchdog_seconds" in body:
            return
        self.hosts[recipe_id] = step.host_recipe_id
        if "task_id" in body:
            self._take_task(recipe_id, before, body)
        else:
            self._move(recipe_id, body["state"])

    def _take_task(self, recipe_id: int, before: str, body: Any) -> None:
        state = self.tasks.get(body["task_id"], "new")
        if "result" in body:
            if state != "running":
                raise Refused("it takes no result now")
            return
        if body["state"] == "running" and before != "running":
            RECIPE.require("recipe", before, "running")
        TASK.require("task", state, body["state"])
        self.recipes[recipe_id] = "running"
        self.tasks[body["task_id"]] = body["state"]

    def _move(self, recipe_id: int, state: str) -> None:
        RECIPE.require("recipe", self.recipes[recipe_id], state)
        if state == "completed" and "running" in self.tasks_of(recipe_id):
            raise Refused("tasks have not ended")
        self.recipes[recipe_id] = state
        if state in FINISHED:
            for guest, host in self.hosts.items():
                if host == recipe_id != guest and self.recipes[guest] not in FINISHED:
                    self.recipes[guest] = "aborted"

    def tasks_of(self, recipe_id: int) -> list[str]:
        mine = {step.body.get("task_id") for step in self.heard if step.recipe_id == recipe_id}
        return [state for task, state in self.tasks.items() if task in mine]


def converse(lab: SimulatedLab, listener: Listener, limit: int, moments: Iterable[float]) -> SimulatedLab:
    """Deliver everything that is due at each of the moments, as the agent of a lab does."""
    for now in moments:
        while delivery := next_delivery(lab, now, limit):
            for _ in range(1 + delivery.twice):
                answers = [listener.hear(_plain(step)) for step in (*delivery.steps, *delivery.repeated)]
            lab, contradicted = apply_answers(lab, delivery, answers[: len(delivery.steps)])
            listener.contradicted += contradicted
    return lab


def _plain(step: LabStep) -> LabStep:
    """Return the step as the server sees it: without its due time, and whether it is late."""
    return replace(step, late=False, due_seconds=0.0)
