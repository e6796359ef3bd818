"""The checks of a log: a recomputation of every decision, and an audit against the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from domain.events import Recorded, shown_of
from domain.partition_numbers import PartitionIdentity
from domain.rfc3339 import rfc3339
from domain.scheduling.world.lab_moves import History
from domain.scheduling.world.skipped_events import SKIPPED_TOPICS
from replay.audit import Audit, Commit, Violation, commits, from_row
from replay.verify.partitions import PartitionRecomputations
from replay.verify.recomputation import DecisionDifference, RecomputationCounts
from replay.verify.recorded_decisions import Decided
from store.mapper import EventMapper, StoredRow
from workers.verification.verify import MAX_SHOWN


class RecomputationCheck:
    """The check by a recomputation of all decisions with the code of the scheduler.

    `others` are the partitions beside `default` that the log creates; `history` reads the same log.
    """

    def __init__(self, others: Iterable[PartitionIdentity], history: History) -> None:
        self._recomputations = PartitionRecomputations(others, history)
        self._mapper = EventMapper()
        self._differences: list[DecisionDifference] = []
        self._position = 0

    def check(self, rows: list[StoredRow]) -> None:
        self._position = rows[-1].position
        for difference in self._recomputations.take_all(self._recorded(rows)):
            if len(self._differences) < MAX_SHOWN:
                self._differences.append(difference)

    def _recorded(self, rows: list[StoredRow]) -> Iterator[Recorded]:
        """Yield the events that a scheduler folds or has decided. Require that the others are readable."""
        for row in rows:
            if row.topic in SKIPPED_TOPICS and not self._mapper.is_decided(row):
                self._mapper.require_readable(row)
            else:
                yield self._mapper.recorded(row)

    def findings(self) -> dict[str, Any]:
        others = self._recomputations.other_policies
        return {
            "position": self._position,
            **_counts(self._recomputations.counts),
            "other_policies": {str(version): count for version, count in sorted(others.items())},
            "partitions": [
                {**each.identity._asdict(), **_counts(each.counts)}
                for each in self._recomputations.of.values()
            ],
            "differences": [
                {"partition": self._name_of(difference.commit.basis.partition), **_difference(difference)}
                for difference in self._differences
            ],
        }

    def _name_of(self, number: int) -> str:
        recomputation = self._recomputations.of.get(number)
        return f"{number} (never created)" if recomputation is None else recomputation.identity.name


def _counts(counts: RecomputationCounts) -> dict[str, int]:
    return {
        "commits": counts.commits,
        "decisions": counts.decisions,
        "different": counts.differences,
        "mended": counts.mended,
        "unchecked": counts.unchecked,
    }


def _difference(difference: DecisionDifference) -> dict[str, Any]:
    basis = difference.commit.basis
    return {
        "position": difference.commit.first_position,
        "number": difference.number,
        "basis": basis.position,
        "now": rfc3339(basis.now),
        "policy_version": basis.policy_version,
        "recorded": _decision(difference.recorded),
        "demanded": _decision(difference.recomputed),
    }


def _decision(decision: Decided | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    batch = None if decision.batch is None else asdict(decision.batch)
    events = [
        {"subject": subject, "topic": event.TOPIC, "data": shown_of(event)}
        for subject, event in decision.events
    ]
    return {"cause": decision.cause, "batch": batch, "events": events}


class AuditCheck:
    """The check by an audit, which also decodes the rows by its own code."""

    def __init__(self) -> None:
        self._audit = Audit()
        self._by_invariant = Counter[str]()
        self._violations: list[Violation] = []
        self._position = 0

    def check(self, rows: list[StoredRow]) -> None:
        self._position = rows[-1].position
        for commit in commits(map(from_row, rows)):
            self._check_commit(commit)

    def _check_commit(self, commit: Commit) -> None:
        for violation in self._audit.check_commit(commit):
            self._by_invariant[violation.invariant] += 1
            if len(self._violations) < MAX_SHOWN:
                self._violations.append(violation)

    def findings(self) -> dict[str, Any]:
        others = self._audit.other_policies
        return {
            "position": self._position,
            "commits": self._audit.commits,
            "decisions": self._audit.decisions,
            "broken": self._by_invariant.total(),
            "by_invariant": dict(sorted(self._by_invariant.items())),
            "other_policies": {str(version): count for version, count in sorted(others.items())},
            "violations": [_violation(violation) for violation in self._violations],
        }


def _violation(violation: Violation) -> dict[str, Any]:
    return {
        "invariant": violation.invariant,
        "positions": list(violation.positions),
        "subjects": list(violation.subjects),
        "what": violation.what,
    }
