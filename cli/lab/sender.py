"""Delivery of due steps of a simulated lab to the server, and the handling of the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cli.lab.link import LabLink
from replay.simulated_lab.delivery import CONFLICT, Delivery, apply_answers
from replay.simulated_lab.lab import SimulatedLab
from replay.simulated_lab.recovery import resume
from replay.simulated_lab.steps import LabStep

# New condition -> required old condition, so that a condition that a person has set is not overwritten.
REQUIRED_CONDITION = {"Broken": "Automated", "Automated": "Broken"}


class Sender:
    """Sender of deliveries to the server, which reports the results to `report(what, ...)`."""

    def __init__(self, link: LabLink, report: Callable[..., None]) -> None:
        self._link = link
        self._report = report

    def send(self, lab: SimulatedLab, delivery: Delivery) -> SimulatedLab:
        """Send a delivery, and return the new lab. Raise ServerProblem or Unreachable for a retry."""
        stale = [step for step in delivery.steps if step.kind == "system" and not self._still_applies(step)]
        lab, delivery = lab.without(lambda step: step in stale), delivery.without(stale)
        return self._update(lab, delivery) if delivery.steps else lab

    def ask_about(self, lab: SimulatedLab, steps: Iterable[LabStep]) -> SimulatedLab:
        """Return the lab, synchronised with the states of the recipes of these steps on the server."""
        for recipe_id in dict.fromkeys(step.recipe_id for step in steps):
            if recipe_id is not None:
                lab = resume(lab, self._link.recipe(recipe_id), time.monotonic())
        return lab

    def _update(self, lab: SimulatedLab, delivery: Delivery) -> SimulatedLab:
        steps = [*delivery.steps, *delivery.repeated]
        for _ in range(1 + delivery.twice):
            answers = self._link.update(steps)[: len(delivery.steps)]
        if extra := len(delivery.repeated) + delivery.twice * len(steps):
            self._report("repeated", messages=extra)
        lab, refused = apply_answers(lab, delivery, [int(answer["status"]) for answer in answers])
        # A refused command was taken before a crash, and has progressed since.
        contradicted = [step for step in refused if step.kind != "command"]
        for step, answer in zip(delivery.steps, answers, strict=True):
            self._report_step(step, answer, again=answer["status"] == CONFLICT and step not in contradicted)
        return self.ask_about(lab, contradicted)

    def _still_applies(self, step: LabStep) -> bool:
        present, new = self._link.condition(step.system), step.body["condition"]
        if present not in (REQUIRED_CONDITION[new], new):
            self._report("left alone", system=step.system, condition=present)
        return present == REQUIRED_CONDITION[new]

    def _report_step(self, step: LabStep, answer: Mapping[str, Any], *, again: bool) -> None:
        """Report a step and its answer. With `again`, the step was refused as too early and is sent again."""
        if step.kind == "command":
            if step.body["state"] == "failed":
                self._report("failed", system=step.system, command_id=step.command, **refusal(answer))
            return
        refused = refusal(answer)
        what = "overtook" if again else step.kind
        about = {} if step.recipe_id is None else {"recipe_id": step.recipe_id}
        self._report(what, **about, **{"system": step.system, **step.body}, **refused)


def refusal(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return why the server refused an item, as a field to report; empty for an accepted one."""
    if int(answer["status"]) < 400:
        return {}
    return {"refused": str(answer.get("detail") or answer.get("title") or answer["status"])}
