"""What was decided, as one append."""

from __future__ import annotations

from collections.abc import Sequence

from domain.events import Basis, Change, Stamp
from domain.scheduling.decisions.draft import Decision
from store.requests import AppendRequest, Fence, new_command_id

ACTOR = "scheduler"


def append_request(decisions: Sequence[Decision], basis: Basis, fence: Fence) -> AppendRequest:
    """All decisions of one basis, which stand or fall together."""
    changes: list[Change] = []
    expected: dict[str, int] = {}
    for number, decision in enumerate(decisions):
        stamp = Stamp(at=basis.now, actor=ACTOR, cause=decision.trigger.cause, basis=basis, number=number)
        changes += [Change(subject, event, stamp) for subject, event in decision.events]
        for subject, version in decision.expected:
            expected.setdefault(subject, version)
    return AppendRequest(command_id=new_command_id(), changes=tuple(changes), expected=expected, fence=fence)
