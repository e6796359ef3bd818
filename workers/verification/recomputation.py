"""The check that recomputes every decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from domain.events import Event, Recorded, shown_of
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from replay.verify.recomputation import DecisionDifference, Recomputation
from replay.verify.recorded_decisions import Decided
from store.mapper import EventMapper, StoredRow
from workers.verification.verify import MAX_SHOWN


class RecomputeDecisions:
    """A recomputation of all decisions by the code of the scheduler."""

    def __init__(self) -> None:
        self._recomputation = Recomputation()
        self._mapper = EventMapper()
        self._first: list[DecisionDifference] = []
        self._position = 0

    def take(self, rows: list[StoredRow]) -> None:
        self._position = rows[-1].position
        for difference in self._recomputation.take_all(self._recorded(rows)):
            if len(self._first) < MAX_SHOWN:
                self._first.append(difference)

    def _recorded(self, rows: list[StoredRow]) -> Iterator[Recorded]:
        """Yield events that are folded or were decided; of the others, check only that they are readable."""
        for row in rows:
            if row.topic in SKIPPED_TOPICS and not self._mapper.is_decided(row):
                self._mapper.require_readable(row)
            else:
                yield self._mapper.recorded(row)

    def found(self) -> dict[str, Any]:
        counts, others = self._recomputation.counts, self._recomputation.other_policies
        return {
            "position": self._position,
            "commits": counts.commits,
            "decisions": counts.decisions,
            "different": counts.differences,
            "mended": counts.mended,
            "unchecked": counts.unchecked,
            "other_policies": {str(version): count for version, count in sorted(others.items())},
            "differences": [_difference(each) for each in self._first],
        }


def _difference(difference: DecisionDifference) -> dict[str, Any]:
    basis = difference.commit.basis
    return {
        "position": difference.commit.first_position,
        "number": difference.number,
        "basis": basis.position,
        "now": basis.now.isoformat().replace("+00:00", "Z"),
        "policy_version": basis.policy_version,
        "recorded": _decided(difference.recorded),
        "demanded": _decided(difference.recomputed),
    }


def _decided(decision: Decided | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    batch = None if decision.batch is None else asdict(decision.batch)
    events = [_event(*happened) for happened in decision.events]
    return {"cause": decision.cause, "batch": batch, "events": events}


def _event(subject: str, event: Event) -> dict[str, Any]:
    return {"subject": subject, "topic": event.TOPIC, "data": shown_of(event)}
