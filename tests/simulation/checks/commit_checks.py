"""Checks of each commit of the growing log, by the audit and by the recomputation of decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from domain.events import Basis, Recorded
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from replay.audit import Audit
from replay.verify.partitions import PartitionRecomputations
from replay.verify.recorded_decisions import commits
from store.mapper import EventMapper
from tests.simulation.checks.scheduler_reads import history_of
from tests.simulation.machine.strands import current


class CommitChecks:
    """Checks each commit. `on_finding` is called with each finding."""

    def __init__(
        self,
        partitions: Sequence[PartitionIdentity],
        mapper: EventMapper,
        on_finding: Callable[[str], None],
        on_commit: Callable[[Sequence[Recorded]], None],
    ) -> None:
        self.log: list[Recorded] = []
        self._on_finding = on_finding
        self._on_commit = on_commit
        self._mapper = mapper
        self._audit = Audit()
        # Partition and epoch of decisions -> the process that appended the first of them.
        self.writers: dict[tuple[int, int], str] = {}
        others = [identity for identity in partitions if identity != DEFAULT_PARTITION]
        self._recomputations = PartitionRecomputations(others, history_of(self.log))

    def take(self, rows: Sequence[Any]) -> None:
        news = [self._mapper.recorded(row) for row in rows]
        self.log += news
        for commit in commits(news):
            self._on_commit(commit)
            self._check_writer(commit[0].stamp.basis)
            for violation in self._audit.take(commit):
                self._on_finding(f"audit: {violation}")
            for difference in self._recomputations.take(commit):
                self._on_finding(f"verify: the recomputed decision differs: {difference}")

    def _check_writer(self, basis: Basis | None) -> None:
        """Check that one process decides in each epoch of a partition."""
        if basis is not None:
            name = current().process.name
            first = self.writers.setdefault((basis.partition, basis.epoch), name)
            if first != name:
                self._on_finding(
                    f"{first} and {name} both decide in epoch {basis.epoch} of partition {basis.partition}"
                )

    def at_rest(self) -> Iterator[str]:
        for violation in self._audit.at_rest():
            yield f"audit, at rest: {violation}"
        counts = self._recomputations.counts
        if counts.mended:
            yield f"verify: {counts.mended} decisions of the consistency loop"
        if counts.unchecked:
            yield f"verify: {counts.unchecked} decisions could not be checked"
