"""Partitions in the log: each event belongs to one partition by its number, or to all of them (design 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

EVERYBODY: Final = 0
"""The number of what concerns all partitions, and of all events from before partitions."""

DEFAULT_NUMBER: Final = 1


class PartitionIdentity(NamedTuple):
    """The number of a partition, which is unique for ever, and its name, which may be used again."""

    number: int
    name: str

    @property
    def subject(self) -> str:
        return f"partition/{self.name}"


DEFAULT_PARTITION: Final = PartitionIdentity(DEFAULT_NUMBER, "default")
"""The partition that needs no creation, with every lab that no configuration has ever named."""

OF_ONE_PARTITION: Final = frozenset(
    {"job", "job-key", "recipe-set", "recipe", "command", "system", "lab-controller"}
)
"""The kinds of subjects that belong to one partition. All others, such as users and pools, concern all."""


def partition_of(subjects: Iterable[str]) -> int:
    """Return the partition to which an append with events of these subjects belongs.

    An append that concerns several partitions, or anything that is not of one, is everybody's.
    """
    kinds = {subject.partition("/")[0] for subject in subjects}
    return DEFAULT_NUMBER if kinds <= OF_ONE_PARTITION else EVERYBODY


def of_job(partition: int) -> int:
    """Return the partition of a job, by that of an event of it; events from before partitions name none."""
    return partition or DEFAULT_NUMBER


def read_by(partition: int) -> list[int]:
    """Return the numbers of the events that the scheduler of a partition reads."""
    return [EVERYBODY, partition]
