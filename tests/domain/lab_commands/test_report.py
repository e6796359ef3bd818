"""Every report on a command in every state."""

from __future__ import annotations

from itertools import product

import pytest

from domain.errors import Refused
from domain.events import Event
from domain.lab_commands.events import CommandCompleted, CommandFailed, CommandRunning
from domain.lab_commands.lifecycle import COMMAND, report

ANSWERS: dict[tuple[str, str], Event | None] = {
    ("queued", "running"): CommandRunning(),
    # A short command may be reported only at its end.
    ("queued", "completed"): CommandCompleted(),
    ("running", "completed"): CommandCompleted(),
    ("queued", "failed"): CommandFailed(reason="no power"),
    ("running", "failed"): CommandFailed(reason="no power"),
    # Repeated.
    ("running", "running"): None,
    ("completed", "completed"): None,
    ("failed", "failed"): None,
}


EVERY = list(product(COMMAND.states, ("running", "completed", "failed")))


@pytest.mark.parametrize(("before", "after"), EVERY)
def test_report__any_state_after_any_state__is_answered_by_the_table(before: str, after: str) -> None:
    if (before, after) in ANSWERS:
        assert report("command/7", before, after, "no power") == ANSWERS[before, after]
        return
    with pytest.raises(Refused, match=f"command 7 is {before} and cannot become {after}"):
        report("command/7", before, after, "no power")
