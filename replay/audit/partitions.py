"""Invariants of partitions: whose each event is, and that a stopped one decides nothing (design 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord, number_of
from replay.audit.world import FoldedWorld

MOVABLE: Final = frozenset({"system", "lab-controller"})
"""Kinds of one partition, which an append that concerns several partitions may change, too."""

WITHOUT_MOVES: Final = frozenset({"job", "recipe-set", "recipe", "command"})
"""Kinds of one partition, which such an append changes only beside what concerns all, such as pools."""


GRANTS: Final = frozenset({"recipe.scheduled", "recipe.locked"})

MOVES: Final = frozenset({"lab-controller.partition-changed", "system.lab-controller-changed"})
"""Events that take a lab or system from one partition to another."""


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
    """A stopped partition grants nothing, and decides only deadlines on a basis after the stop."""

    name = "stopped_decides_nothing"
    topics = ("partition.state-changed",)

    def __init__(self) -> None:
        # By partition, the position of the event that stopped it.
        self._stopped_at: dict[int | str, int] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        partition = number_of(record.name)
        self._stopped_at.pop(partition, None)
        if record.data["state"] == "stopped":
            self._stopped_at[partition] = record.position
        yield from ()

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for decision in commit.decisions:
            stopped_at = self._stopped_at.get(decision.partition)
            if stopped_at is None:
                continue
            cause, subjects = decision.records[0].cause, [record.subject for record in decision.records]
            if stopped_at <= decision.basis and not _is_deadline(cause):
                what = f"decided because of {cause}, on a basis at which the partition is stopped"
                yield self.violation([stopped_at, commit.first], subjects, what)
            elif any(record.topic in GRANTS for record in decision.records):
                yield self.violation([stopped_at, commit.first], subjects, "granted by a stopped partition")


def _is_deadline(cause: str) -> bool:
    return cause.startswith("timer/") and cause != "timer/consistency"


def _faults(records: tuple[EventRecord, ...]) -> Iterator[str]:
    partition, kinds = records[0].partition, {record.kind for record in records}
    if any(record.partition != partition for record in records):
        yield "its events belong to several partitions"
    for number in sorted({record.basis_partition for record in records} - {None, partition}, key=str):
        yield f"it belongs to partition {partition}, but was decided in partition {number}"
    if not partition:
        is_move = any(record.topic in MOVES for record in records)
        if kinds <= MOVABLE | WITHOUT_MOVES and not is_move:
            yield "it belongs to all partitions, but concerns one"
    elif not kinds <= MOVABLE | WITHOUT_MOVES:
        yield f"it belongs to partition {partition}, but concerns all"
