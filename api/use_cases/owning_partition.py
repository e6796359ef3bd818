"""The partition that an append belongs to (design 6), and the versions on which this depends."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from domain.directory.events import LabControllerPartitionChanged
from domain.directory.partitions import number_of_lab
from domain.directory.state import Directory
from domain.events import Decided, split_subject
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY, OF_ONE_PARTITION
from domain.system.events import SystemLabControllerChanged, SystemRegistered
from domain.system.state import System
from store.aggregates import Aggregates

OF_JOBS: Final = frozenset({"job", "recipe-set", "recipe"})


class Owner(NamedTuple):
    """The number of a partition, and the versions of the labs that decided it."""

    partition: int
    versions: Mapping[str, int] = {}


def owner_of(aggregates: Aggregates, directory: Directory, decided: Decided) -> Owner:
    """Return the partition of an append: EVERYBODY if it concerns several, or all. May block.

    Jobs, recipes and sets never change their partition. While a recipe is on a system, neither does the lab
    of the system, so the version of a lab counts only for other systems. The append expects the version of
    each system, so the lab of an older state leads to a conflict. Commands follow what is beside them.
    """
    kinds = {split_subject(subject)[0] for subject, _ in decided}
    if not kinds <= OF_ONE_PARTITION:
        return Owner(EVERYBODY)
    of_jobs = {subject for subject, _ in decided if split_subject(subject)[0] in OF_JOBS}
    labs = _labs(aggregates, decided, of_jobs)
    # Before the numbers, because the directory may change meanwhile.
    versions = {f"lab-controller/{lab}": directory.version(f"lab-controller/{lab}") for lab in labs}
    numbers = {number_of_lab(directory, lab) for lab in labs}
    if any(isinstance(event, LabControllerPartitionChanged) for _, event in decided):
        numbers.add(EVERYBODY)
    if len(directory.partition_names) == 1:
        numbers |= {DEFAULT_NUMBER} if of_jobs or not numbers else set()
    else:
        asked = of_jobs or ({subject for subject, _ in decided} if not labs else set())
        numbers |= set(aggregates.partitions(asked).values())
    return Owner(numbers.pop() if len(numbers) == 1 else EVERYBODY, versions)


def _labs(aggregates: Aggregates, decided: Decided, of_jobs: Collection[str]) -> list[str]:
    """Return the labs of events, and those of systems before and after their events.

    Systems on which a recipe of the same append is do not count.
    """
    new = {subject for subject, event in decided if isinstance(event, SystemRegistered)}
    systems = (subject for subject, _ in decided if subject.startswith("system/") and subject not in new)
    before = aggregates.recent(systems).values()
    labs = [
        state.lab_controller
        for state in before
        if isinstance(state, System) and f"recipe/{state.recipe_id}" not in of_jobs
    ]
    for subject, event in decided:
        if isinstance(event, SystemRegistered | SystemLabControllerChanged):
            labs.append(event.lab_controller)
        elif subject.startswith("lab-controller/"):
            labs.append(split_subject(subject)[1])
    return list(dict.fromkeys(labs))
