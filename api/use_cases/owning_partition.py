"""The partition that an append belongs to (design 6), and the versions on which this depends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from domain.directory.events import LabControllerPartitionChanged
from domain.directory.partitions import lab_of, number_of_lab
from domain.directory.state import Directory
from domain.events import Decided, Event, split_subject
from domain.partition_numbers import EVERYBODY, OF_ONE_PARTITION
from domain.system.events import SystemLabControllerChanged, SystemRegistered
from store.aggregates import Aggregates

OF_JOBS: Final = frozenset({"job", "recipe-set", "recipe"})


class Owner(NamedTuple):
    """The number of a partition, and the versions of the labs by which it was found."""

    partition: int
    versions: Mapping[str, int] = {}


def owner_of(aggregates: Aggregates, directory: Directory, decided: Decided) -> Owner:
    """Return the partition of an append: EVERYBODY if it concerns several, or all. May block.

    Jobs, recipes and sets never change their partition. While a recipe is on a system, neither does the lab
    of the system, so the version of a lab counts only for systems alone. Commands follow what is beside them.
    """
    kinds = {split_subject(subject)[0] for subject, _ in decided}
    if not kinds <= OF_ONE_PARTITION:
        return Owner(EVERYBODY)
    of_jobs = {subject for subject, _ in decided if split_subject(subject)[0] in OF_JOBS}
    numbers = set(aggregates.partitions(of_jobs).values())
    if not numbers and kinds != {"command"}:
        labs = dict.fromkeys(lab for change in decided for lab in _labs(directory, *change))
        numbers = {number_of_lab(directory, lab) for lab in labs}
        if any(isinstance(event, LabControllerPartitionChanged) for _, event in decided):
            numbers.add(EVERYBODY)
        versions = {f"lab-controller/{lab}": directory.version(f"lab-controller/{lab}") for lab in labs}
        return Owner(_only(numbers), versions)
    return Owner(_only(numbers or set(aggregates.partitions(subject for subject, _ in decided).values())))


def _only(numbers: set[int]) -> int:
    return numbers.pop() if len(numbers) == 1 else EVERYBODY


def _labs(directory: Directory, subject: str, event: Event) -> Iterator[str]:
    """Yield the labs of a system before and after an event, or the lab of an event."""
    kind, name = split_subject(subject)
    if kind == "lab-controller":
        yield name
    elif kind == "system":
        if isinstance(event, SystemRegistered | SystemLabControllerChanged):
            yield event.lab_controller
        lab = lab_of(directory, name)
        if lab is not None:
            yield lab
