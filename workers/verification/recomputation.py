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


class RecomputationCheck:
    """The check by a recomputation of all decisions with the code of the scheduler."""

    def __init__(self) -> None:
        self._recomputation = Recomputation()
        self._mapper = EventMapper()
        self._differences: list[DecisionDifference] = []
        self._position = 0

    def check(self, rows: list[StoredRow]) -> None:
        self._position = rows[-1].position
        for difference in self._recomputation.take_all(self._recorded(rows)):
            if len(self._differences) < MAX_SHOWN:
                self._differences.append(difference)

    def _recorded(self, rows: list[StoredRow]) -> Iterator[Recorded]:
        """Yield the events that the scheduler folds or has decided. Require that the others are readable."""
        for row in rows:
            if row.topic in SKIPPED_TOPICS and not self._mapper.is_decided(row):
                self._mapper.require_readable(row)
            else:
                yield self._mapper.recorded(row)

    def findings(self) -> dict[str, Any]:
        counts, others = self._recomputation.counts, self._recomputation.other_policies
        return {
            "position": self._position,
            "commits": counts.commits,
            "decisions": counts.decisions,
            "different": counts.differences,
            "mended": counts.mended,
            "unchecked": counts.unchecked,
            "other_policies": {str(version): count for version, count in sorted(others.items())},
            "differences": [_difference(difference) for difference in self._differences],
        }


def _difference(difference: DecisionDifference) -> dict[str, Any]:
    basis = difference.commit.basis
    return {
        "position": difference.commit.first_position,
        "number": difference.number,
        "basis": basis.position,
        "now": basis.now.isoformat().replace("+00:00", "Z"),
        "policy_version": basis.policy_version,
        "recorded": _decision(difference.recorded),
        "demanded": _decision(difference.recomputed),
    }


def _decision(decision: Decided | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    batch = None if decision.batch is None else asdict(decision.batch)
    events = [_event(subject, event) for subject, event in decision.events]
    return {"cause": decision.cause, "batch": batch, "events": events}


def _event(subject: str, event: Event) -> dict[str, Any]:
    return {"subject": subject, "topic": event.TOPIC, "data": shown_of(event)}
