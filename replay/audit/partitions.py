"""Invariants of partitions: whose each event is, and what one grants (design 6)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import DEFAULT_PARTITION, EVERYBODY
from replay.audit.world import FoldedWorld

OF_JOBS: Final = frozenset({"job", "recipe-set", "recipe"})
COMMAND: Final = frozenset({"command"})
OF_LABS: Final = frozenset({"system", "lab-controller"})
OF_ONE_PARTITION: Final = OF_JOBS | COMMAND | OF_LABS | {"job-key"}
"""Kinds of subjects that belong to one partition; all others, such as users and pools, concern all."""

CREATED: Final = "partition.created"
REMOVED: Final = "partition.removed"
SUBMITTED: Final = "recipe-set.submitted"
LAB_MOVED: Final = "lab-controller.partition-changed"
SYSTEM_MOVED: Final = "system.lab-controller-changed"
GRANTS: Final = frozenset({"recipe.scheduled", "recipe.locked"})


class PartitionColumn(Invariant):
    """The column has the partition of the subjects of a commit, 0 if it concerns several or all.

    Jobs, recipe sets and recipes never change their partition. Systems and lab controllers are in that of
    their lab. A command follows the event that caused it. What a commit does to systems or commands beside a
    job is in the partition of the job. Decisions are in the partition of their basis. Logs from before
    partitions have no column: the check begins with the first event that has one. No cause is an event of
    another partition, and no job is submitted into a partition that does not exist.
    """

    name = "partition_column"
    topics = (CREATED, REMOVED, SUBMITTED, SYSTEM_MOVED)

    def __init__(self) -> None:
        self._has_begun = False
        self._created = {DEFAULT_PARTITION}
        # The number of each partition that exists, by name.
        self._existing: dict[str, int] = {}
        self._by_position = PartitionsByPosition()
        self._commands: dict[str, int] = {}
        # The labs that systems leave in this commit.
        self._left: list[str] = []

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        system = world.systems.get(record.name)
        if record.topic == CREATED:
            self._created.add(record.data["number"])
            self._existing[record.name] = record.data["number"]
        elif record.topic == REMOVED:
            self._existing.pop(record.name, None)
        elif record.topic == SUBMITTED:
            if record.partition not in (EVERYBODY, DEFAULT_PARTITION, *self._existing.values()):
                what = f"submitted into partition {record.partition}, which does not exist"
                yield self.violation([record.position], [record.subject], what)
        elif system is not None:
            self._left.append(system.lab)

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        records = commit.records
        self._has_begun = self._has_begun or any(record.partition for record in records)
        for what in self._faults(world, records) if self._has_begun else ():
            yield self.violation(commit.about(), [record.subject for record in records], what)
        self._left.clear()
        self._by_position.add(commit.first, records[0].partition)

    def _faults(self, world: FoldedWorld, records: Sequence[EventRecord]) -> Iterator[str]:
        partition = records[0].partition
        if any(record.partition != partition for record in records):
            yield "its events belong to several partitions"
        for number in sorted({record.basis_partition for record in records} - {None, partition}, key=str):
            yield f"it belongs to partition {partition}, but was decided in partition {number}"
        expected = self._expected(world, records)
        if not partition and expected:
            yield f"it belongs to all partitions, but concerns one, {expected}"
        elif partition and expected == EVERYBODY:
            yield f"it belongs to partition {partition}, but concerns all"
        elif expected not in (None, partition):
            yield f"it belongs to partition {partition}, but concerns partition {expected}"
        if partition and partition not in self._created:
            yield f"it belongs to partition {partition}, which was never created"
        yield from self._causes_elsewhere(records, partition)

    def _causes_elsewhere(self, records: Sequence[EventRecord], partition: int | str) -> Iterator[str]:
        """Yield a fault for each cause that is in another partition; `decisions` reports malformed ones."""
        for cause in dict.fromkeys(record.cause for record in records):
            kind, _, position = cause.partition("/")
            if kind == "event" and position.isdecimal():
                of_cause = self._by_position.at(int(position))
                if of_cause not in (EVERYBODY, partition):
                    yield f"it belongs to partition {partition}, but its cause {cause} to {of_cause}"

    def _expected(self, world: FoldedWorld, records: Sequence[EventRecord]) -> int | None:
        """Return the number that the column should have; None if all subjects are unknown."""
        kinds = {record.kind for record in records}
        if not kinds <= OF_ONE_PARTITION:
            return EVERYBODY
        commands = {self._of_command(record) for record in records if record.kind in COMMAND}
        numbers = {_of_job(world, record) for record in records if record.kind in OF_JOBS} - {None}
        if not numbers and kinds & OF_LABS:
            numbers = {number for record in records for number in self._of_lab(world, record)}
        found = numbers or commands
        return found.pop() if len(found) == 1 else EVERYBODY if found else None

    def _of_lab(self, world: FoldedWorld, record: EventRecord) -> Iterator[int]:
        if record.topic == LAB_MOVED:
            yield EVERYBODY
        if record.kind == "lab-controller":
            yield world.partition_of_lab(record.name)
        elif record.kind == "system" and record.name in world.systems:
            yield world.partition_of_lab(world.systems[record.name].lab)
            yield from map(world.partition_of_lab, self._left if record.topic == SYSTEM_MOVED else ())

    def _of_command(self, record: EventRecord) -> int:
        """Return the partition of a command; its name is the position of the event that caused it."""
        if record.name not in self._commands:
            cause = int(record.name) if record.name.isdecimal() else 0
            self._commands[record.name] = self._by_position.at(cause) or DEFAULT_PARTITION
        return self._commands[record.name]


class PartitionsByPosition:
    """The partition of each commit, in compact arrays. Mutable."""

    def __init__(self) -> None:
        # The positions from which on the partition is another one than before.
        self._begins, self._numbers = array("q", [0]), array("q", [EVERYBODY])

    def add(self, position: int, partition: int) -> None:
        """Note the partition of the events from a position on, which is higher than all before."""
        if partition != self._numbers[-1]:
            self._begins.append(position)
            self._numbers.append(partition)

    def at(self, position: int) -> int:
        return self._numbers[bisect_right(self._begins, position) - 1]


class GrantsInPartition(Invariant):
    """The scheduler of a partition grants systems of labs of its partition to recipes of its partition."""

    name = "grants_in_partition"
    topics = ("recipe.scheduled",)

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        recipe, system = world.recipes.get(int(record.name)), world.systems.get(record.data["system"])
        if recipe is None or system is None:
            return
        decider = record.basis_partition or record.owning_partition
        of_lab = world.partition_of_lab(system.lab)
        subjects = recipe.subject, system.subject
        if decider != recipe.partition:
            what = f"granted in partition {decider}, but the recipe is in partition {recipe.partition}"
            yield self.violation([record.position], subjects, what)
        if of_lab != recipe.partition:
            where = f"partition {of_lab}" if of_lab else "no partition"
            what = f"{system.lab} is in {where}, but the recipe is in partition {recipe.partition}"
            yield self.violation([record.position], subjects, what)


class StoppedDecidesNothing(Invariant):
    """A stopped partition grants nothing, and decides only deadlines on a basis after the stop."""

    name = "stopped_decides_nothing"
    topics = ("partition.state-changed",)

    def __init__(self) -> None:
        # By partition, the position of the event that stopped it.
        self._stopped_at: dict[int | None, int] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        partition = world.partition_number(record.name)
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


def _of_job(world: FoldedWorld, record: EventRecord) -> int | None:
    """Return the partition of a job, set or recipe, None if it is unknown."""
    number = int(record.name)
    if record.kind == "recipe":
        recipe = world.recipes.get(number) or world.finished.get(number)
        return None if recipe is None else recipe.partition
    if record.kind == "job":
        number = next(iter(world.sets_of_job.get(number, ())), -1)
    recipe_set = world.sets.get(number)
    return None if recipe_set is None else recipe_set.partition
