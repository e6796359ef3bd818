"""Reordering of messages: a late message is sent after its successor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.steps import LabStep, Progress


def disordered(steps: Sequence[LabStep], behaviour: Behaviour, *about: object) -> Iterator[LabStep]:
    """Yield the steps of a host and its guests in order, some of them late: due right after the next step."""
    late, late_due = False, 0.0
    for step, successor in pairwise([*steps, None]):
        assert step is not None
        if late:
            # A step that has overtaken its predecessor is not late itself.
            late = False
            yield step
            continue
        if successor is not None and _may_swap(step, successor):
            late = behaviour.happens("reorder", *about, step.number)
            late_due = successor.due_seconds
        yield replace(step, late=True, due_seconds=late_due) if late else step


def _may_swap(first: LabStep, second: LabStep) -> bool:
    """Return whether two messages of one recipe may be swapped.

    They may if the server refuses the second until the first arrives, or accepts both orders. An early end
    would be accepted, and the messages before it would be lost. A start after its watchdog would reset the
    watchdog.
    """
    if (first.kind, second.kind) != ("progress", "progress") or first.recipe_id != second.recipe_id:
        return False
    return not (_cuts_off(first.body, second.body) or "watchdog_seconds" in second.body)


def _cuts_off(first: Progress, second: Progress) -> bool:
    if second.get("state") == "aborted":
        return True
    return second.get("state") == "completed" and first.get("task_id") == second.get("task_id")
