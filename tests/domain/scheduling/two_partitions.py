"""A log of two partitions, with a scheduler for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from domain.directory.events import LabControllerPartitionChanged, PartitionCreated
from domain.directory.partitions import number_of_lab
from domain.events import Event, Stamp, split_subject
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY, OF_ONE_PARTITION, PartitionIdentity
from domain.scheduling.world.partition import Partition
from domain.system.events import SystemLabControllerChanged, SystemRegistered
from tests.domain.scheduling.history import LABS
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish
from tests.domain.scheduling.world import World

OTHER = PartitionIdentity(2, "other")
DEFAULT, NOBODYS = DEFAULT_NUMBER, 0


class TwoPartitions(World):
    """Mutable: `partition` is the one that decides, and gets what is submitted; `turn_to` changes it."""

    def __init__(self, *options: Any) -> None:
        self.both: dict[int, Partition] = {}
        self._job_numbers: dict[int, int] = {}
        super().__init__(*options)
        other = self.fold_into(Partition(OTHER, self.rules))
        self.both |= {DEFAULT_NUMBER: self.partition, OTHER.number: other}
        self.commit([(OTHER.subject, PartitionCreated(OTHER.number))])

    def turn_to(self, number: int) -> None:
        self.both[self.partition.identity.number] = self.partition
        self.partition = self.both[number]

    def settle_both(self) -> None:
        """Let both schedulers decide until nothing is left to decide."""
        for number in self.both:
            self.turn_to(number)
            self.settle()

    def schedulers(self) -> list[Partition]:
        own = self.partition.identity.number
        return [self.partition, *(each for number, each in self.both.items() if number != own)]

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


def living(seed: int, bursts: int) -> Iterator[TwoPartitions]:
    """Yield a world after each burst of changes, among them labs that move, and of all decisions on them."""
    chance, world = Random(seed), TwoPartitions()
    world.put_tree(1, "x86_64", LABS)
    for lab in LABS:
        world.add_lab(lab)
    for _ in range(bursts):
        world.turn_to(chance.choice((DEFAULT, OTHER.number)))
        for _ in range(3):
            _act(chance, world)
        lab, number = chance.choice(LABS), chance.choice((DEFAULT, OTHER.number, NOBODYS))
        if _is_free(world, lab):
            world.move_lab(lab, number)
        world.settle_both()
        yield world


def _is_free(world: TwoPartitions, lab: str) -> bool:
    systems = [system for system in world.systems.values() if system.lab_controller == lab]
    return all(each.recipe_id is None and each.reservation is None for each in systems)


def _act(chance: Random, world: TwoPartitions) -> None:
    """Do something that a partition without the lab of its object would not even read."""
    names = sorted(world.systems)
    what = chance.randrange(6)
    if what == 0 or not names:
        world.add_system(f"s{len(names)}", chance.choice(LABS))
    elif what < 3:
        world.submit(named(*chance.sample(names, min(3, len(names)))))
    elif what == 3:
        started = [recipe.recipe_id for recipe in world.in_state("waiting")]
        if started:
            finish(world, chance.choice(started))
    elif what == 4:
        world.set_pool(chance.choice(("net", "gpu")), chance.choice(names), chance.random() < 0.7)
    else:
        world.own(chance.choice(names), chance.choice(("ada", "eve")))
