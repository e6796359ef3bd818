"""Delivery of a lab's messages: batches of due messages, and the effects of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay.simulated_lab.lab import SimulatedLab
from replay.simulated_lab.steps import LabStep, in_order

NOT_FOUND, CONFLICT, NOT_UNDERSTOOD = 404, 409, 422
# Statuses of answers after which a message is not repeated.
REFUSED = frozenset({NOT_FOUND, CONFLICT, NOT_UNDERSTOOD})


@dataclass(frozen=True)
class Delivery:
    """Messages to send in order, then those in `repeated` again; `twice`: all again, as if no answer came."""

    steps: tuple[LabStep, ...]
    repeated: tuple[LabStep, ...] = ()
    twice: bool = False

    @property
    def kind(self) -> str:
        return self.steps[0].kind

    def without(self, unwanted: Sequence[LabStep]) -> Delivery:
        def left(steps: tuple[LabStep, ...]) -> tuple[LabStep, ...]:
            return tuple(step for step in steps if step not in unwanted)

        return replace(self, steps=left(self.steps), repeated=left(self.repeated))


def next_delivery(lab: SimulatedLab, now_seconds: float, limit: int) -> Delivery | None:
    """Return the due messages, None if there are none.

    After a late message, no further message of its host and guests is included, because it may depend on the
    answer.
    """
    taken, waiting = list[LabStep](), set[int | None]()
    for step in lab.due(now_seconds):
        if step.kind == "silence":
            taken = taken or [step]
            break
        if step.recipe_id is not None and step.host_recipe_id in waiting:
            continue
        taken.append(step)
        if step.late:
            waiting.add(step.host_recipe_id)
        if len(taken) >= limit:
            break
    return _with_repetitions(lab, taken) if taken else None


def _with_repetitions(lab: SimulatedLab, steps: list[LabStep]) -> Delivery:
    def happens(step: LabStep, *about: str) -> bool:
        place = (step.system, step.recipe_id, step.command, step.number, step.body.get("state"))
        return lab.behaviour.happens("repeat", *place, *about)

    if steps[0].kind == "silence":
        return Delivery(tuple(steps))
    repeated = tuple(step for step in steps if happens(step))
    return Delivery(tuple(steps), repeated, twice=happens(steps[0], "all"))


def apply_answers(
    lab: SimulatedLab, delivery: Delivery, statuses: Sequence[int]
) -> tuple[SimulatedLab, tuple[LabStep, ...]]:
    """Return the lab after the answers to `steps`, and the steps that contradict the server's state.

    A message that was refused because it overtook its predecessor is queued again, in order. The caller
    must fetch the recipes of the contradicting steps from the server and pass them to `resume`.
    """
    left = list(lab.agenda)
    again, contradicted = list[LabStep](), list[LabStep]()
    for step, status in zip(delivery.steps, statuses, strict=True):
        left.remove(step)
        if status == CONFLICT and _overtook(step, left):
            again.append(step)
        elif status in (NOT_FOUND, CONFLICT):
            contradicted.append(step)
    recipes = {step.recipe_id for step in again}
    mended = [replace(step, late=False) if step.recipe_id in recipes else step for step in (*left, *again)]
    return replace(lab, agenda=in_order(mended)), tuple(contradicted)


def _overtook(step: LabStep, unheard: Sequence[LabStep]) -> bool:
    return any(
        other.recipe_id == step.recipe_id and other.number < step.number
        for other in unheard
        if other.kind == step.kind == "progress"
    )
