"""What a part of the verification says, as JSON: one line for each page, the last one with what it found."""

from __future__ import annotations

from typing import Any

from domain.events import Event, shown_of
from replay.verify.decided import Decided
from replay.verify.recomputation import Difference, Recomputation

SHOWN = 10


def of_decisions(again: Recomputation, position: int, differences: list[Difference]) -> dict[str, Any]:
    return {
        "position": position,
        "commits": again.counts.commits,
        "decisions": again.counts.decisions,
        "different": again.counts.differences,
        "mended": again.counts.mended,
        "unchecked": again.counts.unchecked,
        "other_policies": {str(version): count for version, count in sorted(again.other_policies.items())},
        "differences": [_difference(each) for each in differences],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    basis = difference.commit.basis
    return {
        "position": difference.commit.first_position,
        "number": difference.number,
        "basis": basis.position,
        "now": basis.now.isoformat().replace("+00:00", "Z"),
        "policy_version": basis.policy_version,
        "recorded": _decided(difference.recorded),
        "demanded": _decided(difference.again),
    }


def _decided(decision: Decided | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {"cause": decision.cause, "events": [_event(*happened) for happened in decision.events]}


def _event(subject: str, event: Event) -> dict[str, Any]:
    return {"subject": subject, "topic": event.TOPIC, "data": shown_of(event)}
