"""Which messages go out together, and what becomes of them when they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay.simulated_lab.lab import Lab
from replay.simulated_lab.steps import Step, in_order

NOT_FOUND, CONFLICT, NOT_UNDERSTOOD = 404, 409, 422
# Saying these again would change nothing.
REFUSED = frozenset({NOT_FOUND, CONFLICT, NOT_UNDERSTOOD})


@dataclass(frozen=True)
class Delivery:
    """`steps` are said in this order, then those `repeated` once more; `twice`: the first answer got lost."""

    steps: tuple[Step, ...]
    repeated: tuple[Step, ...] = ()
    twice: bool = False

    @property
    def kind(self) -> str:
        return self.steps[0].kind

    def without(self, unwanted: Sequence[Step]) -> Delivery:
        def left(steps: tuple[Step, ...]) -> tuple[Step, ...]:
            return tuple(step for step in steps if step not in unwanted)

        return replace(self, steps=left(self.steps), repeated=left(self.repeated))


def next_delivery(lab: Lab, now_seconds: float, limit: int) -> Delivery | None:
    """What is to be said now; None when nothing is due.

    Behind a message that was late a family falls silent: what it says next may depend on the answer.
    """
    taken, waiting = list[Step](), set[int | None]()
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


def _with_repetitions(lab: Lab, steps: list[Step]) -> Delivery:
    def happens(step: Step, *about: str) -> bool:
        place = (step.system, step.recipe_id, step.command, step.number, step.body.get("state"))
        return lab.behaviour.happens("repeat", *place, *about)

    if steps[0].kind == "silence":
        return Delivery(tuple(steps))
    repeated = tuple(step for step in steps if happens(step))
    return Delivery(tuple(steps), repeated, twice=happens(steps[0], "all"))


def heard(lab: Lab, delivery: Delivery, statuses: Sequence[int]) -> tuple[Lab, tuple[Step, ...]]:
    """The lab after the answers to `steps`, and the steps that contradict what the server knows.

    One that was refused because its predecessor had not been heard yet is said again, now in order. Whoever
    runs the lab asks the server about the recipes of the others and lets the lab `resume` them.
    """
    left = list(lab.agenda)
    again, contradicted = list[Step](), list[Step]()
    for step, status in zip(delivery.steps, statuses, strict=True):
        left.remove(step)
        if status == CONFLICT and _overtook(step, left):
            again.append(step)
        elif status in (NOT_FOUND, CONFLICT):
            contradicted.append(step)
    recipes = {step.recipe_id for step in again}
    mended = [replace(step, late=False) if step.recipe_id in recipes else step for step in (*left, *again)]
    return replace(lab, agenda=in_order(mended)), tuple(contradicted)


def _overtook(step: Step, unheard: Sequence[Step]) -> bool:
    return any(
        other.recipe_id == step.recipe_id and other.number < step.number
        for other in unheard
        if other.kind == step.kind == "progress"
    )
