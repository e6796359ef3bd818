"""A log of two partitions, with a scheduler for each."""

from __future__ import annotations

from collections.abc import Sequence

from domain.directory.events import LabControllerPartitionChanged
from domain.directory.partitions import number_of_lab
from domain.events import Event, Stamp, split_subject
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY, OF_ONE_PARTITION, PartitionIdentity
from domain.scheduling.world.partition import Partition
from domain.system.events import SystemLabControllerChanged, SystemRegistered
from tests.domain.scheduling.world import World

OTHER = PartitionIdentity(2, "other")


class TwoPartitions(World):
    """Mutable: `partition` is the one that decides, and gets what is submitted; `turn_to` changes it."""

    def __init__(self) -> None:
        super().__init__()
        self.both = {DEFAULT_NUMBER: self.partition, OTHER.number: Partition(OTHER)}
        self._job_numbers: dict[int, int] = {}

    def turn_to(self, number: int) -> None:
        self.both[self.partition.identity.number] = self.partition
        self.partition = self.both[number]

    def settle_both(self) -> None:
        """Let both schedulers decide until nothing is left to decide."""
        for number in self.both:
            self.turn_to(number)
            self.settle()

    def schedulers(self) -> list[Partition]:
        return [self.partition, *(each for each in self.both.values() if each is not self.partition)]

    def fresh(self, number: int) -> Partition:
        """Return the partition of a scheduler that has just started."""
        return self.fold_into(Partition(self.both[number].identity))

    def partition_of(self, rows: Sequence[tuple[str, Event, Stamp]]) -> int:
        numbers = {self._number_of(subject, event) for subject, event, _ in rows} - {None}
        return numbers.pop() or EVERYBODY if len(numbers) == 1 else EVERYBODY

    def _number_of(self, subject: str, event: Event) -> int | None:
        kind, name = split_subject(subject)
        if kind not in OF_ONE_PARTITION or isinstance(event, LabControllerPartitionChanged):
            return EVERYBODY
        if kind == "lab-controller":
            return number_of_lab(self.directory, name)
        if kind == "system":
            return self._number_of_system(name, event)
        states = self.recipes if kind == "recipe" else self.sets
        job_id = event.job_id if hasattr(event, "job_id") else states[int(name)].job_id
        return self._job_numbers.setdefault(job_id, self.partition.identity.number)

    def _number_of_system(self, name: str, event: Event) -> int | None:
        """Return the number of a system's lab; None if the same commit registers the system."""
        if isinstance(event, SystemRegistered):
            return number_of_lab(self.directory, event.lab_controller)
        if name not in self.systems:
            return None
        number = number_of_lab(self.directory, self.systems[name].lab_controller)
        if isinstance(event, SystemLabControllerChanged):
            return number if number_of_lab(self.directory, event.lab_controller) == number else EVERYBODY
        return number
