"""Messages that overtake one another on their way, and which of them may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.steps import Progress, Step


def disordered(steps: Sequence[Step], behaviour: Behaviour, *about: object) -> Iterator[Step]:
    """A family's steps in order, some of them late: said right after the one that should follow them."""
    late, late_due = False, 0.0
    for step, successor in pairwise([*steps, None]):
        assert step is not None
        if late:
            # The one that has overtaken its predecessor stays as it is; it cannot be overtaken as well.
            late = False
            yield step
            continue
        if successor is not None and _may_swap(step, successor):
            late = behaviour.happens("reorder", *about, step.number)
            late_due = successor.due_seconds
        yield replace(step, late=True, due_seconds=late_due) if late else step


def _may_swap(first: Step, second: Step) -> bool:
    """Two messages of one recipe, where the server refuses the second for as long as the first is missing,
    or does not mind. An end that comes too early is taken, and what it cut off could never be said again. A
    start that comes after its watchdog would set it anew.
    """
    if (first.kind, second.kind) != ("progress", "progress") or first.recipe_id != second.recipe_id:
        return False
    return not (_cuts_off(first.body, second.body) or "watchdog_seconds" in second.body)


def _cuts_off(first: Progress, second: Progress) -> bool:
    if second.get("state") == "aborted":
        return True
    return second.get("state") == "completed" and first.get("task_id") == second.get("task_id")
