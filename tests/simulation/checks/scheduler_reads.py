"""Reads of the scheduler of a partition: its part of a whole log, and the history of labs that arrive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.events import Recorded
from domain.partition_numbers import PartitionIdentity, read_by
from domain.scheduling.world.lab_moves import History
from domain.scheduling.world.partition import Partition


def history_of(log: Sequence[Recorded]) -> History:
    """Return the history of a log, which may grow and whose positions have no gaps."""

    def history(subjects: Sequence[str], before: int) -> Sequence[Recorded]:
        wanted = frozenset(subjects)
        return [recorded for recorded in log[: before - 1] if recorded.subject in wanted]

    return history


def read_of(identity: PartitionIdentity, log: Iterable[Recorded]) -> list[Recorded]:
    """Return the events that the scheduler of a partition reads."""
    numbers = read_by(identity.number)
    return [recorded for recorded in log if recorded.partition in numbers]


def folded(partition: Partition, log: Sequence[Recorded]) -> Partition:
    """Return a partition after it has read a whole log from its position on."""
    history = history_of(log)
    for recorded in read_of(partition.identity, log[partition.position :]):
        partition.apply(recorded, history)
    return partition
