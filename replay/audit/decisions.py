"""Invariants of commits and decisions: complete commits, numbered decisions, causes, bases and epochs."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import UNPLACED
from replay.audit.world import FoldedWorld

SCHEDULER = "scheduler"


class Positions:
    """Ascending positions in a compact array. A position that does not ascend is ignored."""

    def __init__(self) -> None:
        self._all = array("q")

    def add(self, position: int) -> None:
        if not self._all or position > self._all[-1]:
            self._all.append(position)

    def __contains__(self, position: int) -> bool:
        index = bisect_left(self._all, position)
        return index < len(self._all) and self._all[index] == position


class WholeCommits(Invariant):
    """Positions ascend, and each commit ends at the position that it names."""

    name = "whole_commits"

    def __init__(self) -> None:
        self._last = 0

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        before = self._last
        for record in commit.records:
            if before >= record.position:
                yield self.violation([before, record.position], [record.subject], "positions do not ascend")
            before = record.position
        last = commit.records[-1]
        if last.position != last.commit_end:
            what = f"the commit ends at {last.commit_end}, but the event there is missing"
            yield self.violation([last.position], [last.subject], what)
        self._last = last.position


class Decisions(Invariant):
    """The scheduler alone decides, at a basis that ends a commit, with its time and an earlier cause."""

    name = "decisions"
    topics = None

    def __init__(self) -> None:
        # By partition: the highest basis, and the end of the last decisions.
        self._basis = defaultdict[int, int](int)
        self._decided = defaultdict[int, int](int)
        self._positions = Positions()
        self._ends = Positions()
        self._ends.add(0)

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        self._positions.add(record.position)
        if record.basis is None:
            yield from self._without_basis(world, record)
            return
        if record.actor != SCHEDULER:
            yield self.violation(
                [record.position], [record.subject], f"an event of {record.actor} names a basis"
            )
        if record.now is not None and record.at != record.now:
            what = f"it happened at {record.at}, but was decided at {record.now}"
            yield self.violation([record.position], [record.subject], what)
        if not self._is_cause(record.cause, record.basis):
            what = f"{record.cause!r} cannot be its cause on basis {record.basis}"
            yield self.violation([record.position], [record.subject], what)

    def _without_basis(self, world: FoldedWorld, record: EventRecord) -> Violations:
        recipe = world.recipes.get(int(record.name)) if record.kind == "recipe" else None
        grant = record.topic == "recipe.scheduled" and recipe is not None and recipe.state in UNPLACED
        if record.actor == SCHEDULER or grant or record.topic == "recipe.locked":
            what = f"{record.topic} by {record.actor} without a basis"
            yield self.violation([record.position], [record.subject], what)

    def _is_cause(self, cause: str, basis: int) -> bool:
        kind, _, name = cause.partition("/")
        if kind == "event":
            return name.isdecimal() and int(name) <= basis and int(name) in self._positions
        return kind == "timer" and bool(name)

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        if commit.decisions:
            for fault in (*self._basis_faults(commit), *_number_faults(commit)):
                yield self.violation(commit.about(), [record.subject for record in commit.records], fault)
            self._decided[commit.decisions[0].partition] = commit.end
        self._ends.add(commit.end)

    def _basis_faults(self, commit: Commit) -> list[str]:
        if len({record.basis for record in commit.records}) > 1:
            return ["its events do not share one basis"]
        basis, partition = commit.decisions[0].basis, commit.decisions[0].partition
        before, self._basis[partition] = self._basis[partition], max(self._basis[partition], basis)
        if basis >= commit.first:
            return [f"basis {basis} is not before it"]
        if basis < before:
            return [f"basis {basis} follows basis {before}"]
        if basis < self._decided[partition]:
            return [f"basis {basis} is before the last decisions, which end at {self._decided[partition]}"]
        return [] if basis in self._ends else [f"basis {basis} is not the end of a commit"]


def _number_faults(commit: Commit) -> list[str]:
    numbers = [decision.number for decision in commit.decisions]
    faults = [] if numbers == list(range(len(numbers))) else [f"its decisions are numbered {numbers}"]
    for decision in commit.decisions:
        causes = {record.cause for record in decision.records}
        if len(causes) > 1:
            faults.append(f"decision {decision.number} has the causes {', '.join(sorted(causes))}")
    return faults


class NobodyFencedWrites(Invariant):
    """No decision of an earlier epoch of a partition follows a decision of a later one."""

    name = "nobody_fenced_writes"

    def __init__(self) -> None:
        # By partition: the epoch, and the position of its first decision.
        self._epochs = defaultdict[int, tuple[int, int]](lambda: (0, 0))

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for decision in commit.decisions:
            for record in decision.records:
                yield from self._check_epoch(record, decision.partition)

    def _check_epoch(self, record: EventRecord, partition: int) -> Violations:
        epoch, since = self._epochs[partition]
        if record.epoch is None:
            yield self.violation([record.position], [record.subject], "a decision without an epoch")
        elif record.epoch < epoch:
            what = f"decided in epoch {record.epoch}, after epoch {epoch} had begun"
            yield self.violation([since, record.position], [record.subject], what)
        elif record.epoch > epoch:
            self._epochs[partition] = record.epoch, record.position
