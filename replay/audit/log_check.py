"""The check of a log by invariants of its events, and of its state after each commit."""

from __future__ import annotations

from collections.abc import Sequence

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.world import FoldedWorld


class LogCheck:
    """Checks the commits of one log, which are passed in order from the first. Mutable.

    `world` is the state of the log.
    """

    def __init__(self, invariants: Sequence[Invariant]) -> None:
        self.world = FoldedWorld()
        self._invariants = invariants
        self._by_topic: dict[str, tuple[Invariant, ...]] = {}

    def check_commit(self, commit: Commit) -> Violations:
        """Yield the violations of a commit. The caller must exhaust the iterator."""
        for record in commit.records:
            for invariant in self._invariants_for(record):
                yield from invariant.check_event(self.world, record)
            self.world.apply(record)
        affected = Affected(self.world, commit)
        for invariant in self._invariants:
            yield from invariant.check_commit(self.world, commit, affected)

    def _invariants_for(self, record: EventRecord) -> tuple[Invariant, ...]:
        if record.topic not in self._by_topic:
            self._by_topic[record.topic] = tuple(
                invariant
                for invariant in self._invariants
                if invariant.topics is None or record.topic in invariant.topics
            )
        return self._by_topic[record.topic]
