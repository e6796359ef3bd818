"""The check of the log against the rules, by an independent implementation."""

from __future__ import annotations

from collections import Counter
from typing import Any

from replay.audit import Audit, Commit, Violation, commits, from_row
from store.mapper import StoredRow
from workers.verification.verify import MAX_SHOWN


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
