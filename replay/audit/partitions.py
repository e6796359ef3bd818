"""Invariants of partitions: whose each event is, and that a stopped one decides nothing (design 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.world import FoldedWorld

MOVABLE: Final = frozenset({"system", "lab-controller"})
"""Kinds of one partition, which an append that concerns several partitions may change, too."""

WITHOUT_MOVES: Final = frozenset({"job", "recipe-set", "recipe", "command"})
"""Kinds of one partition, which no such append changes."""


class PartitionColumn(Invariant):
    """A commit belongs to one partition, to that of its basis, and to all only if it concerns several.

    Logs from before partitions have none: the check begins with the first event that has one.
    """

    name = "partition_column"

    def __init__(self) -> None:
        self._has_begun = False

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        records = commit.records
        self._has_begun = self._has_begun or any(record.partition for record in records)
        for what in _faults(records) if self._has_begun else ():
            yield self.violation(commit.about(), [record.subject for record in records], what)


class StoppedDecidesNothing(Invariant):
    """A basis at which the partition is stopped leads to decisions about deadlines only."""

    name = "stopped_decides_nothing"
    topics = ("partition.state-changed",)

    def __init__(self) -> None:
        self._stopped_at: int | None = None

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        self._stopped_at = record.position if record.data["state"] == "stopped" else None
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        stopped_at = self._stopped_at
        if stopped_at is None:
            return
        for decision in commit.decisions:
            cause = decision.records[0].cause
            if stopped_at <= decision.basis and not _is_deadline(cause):
                subjects = [record.subject for record in decision.records]
                what = f"decided because of {cause}, on a basis at which the partition is stopped"
                yield self.violation([stopped_at, commit.first], subjects, what)


def _is_deadline(cause: str) -> bool:
    return cause.startswith("timer/") and cause != "timer/consistency"


def _faults(records: tuple[EventRecord, ...]) -> Iterator[str]:
    partition, kinds = records[0].partition, {record.kind for record in records}
    if any(record.partition != partition for record in records):
        yield "its events belong to several partitions"
    for number in sorted({record.basis_partition for record in records} - {None, partition}, key=str):
        yield f"it belongs to partition {partition}, but was decided in partition {number}"
    if not partition:
        if kinds & WITHOUT_MOVES or kinds <= MOVABLE:
            yield "it belongs to all partitions, but concerns one"
    elif not kinds <= MOVABLE | WITHOUT_MOVES:
        yield f"it belongs to partition {partition}, but concerns all"
