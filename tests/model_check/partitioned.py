"""The world of a case with two partitions: a scheduler for each over one log, and labs that move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from domain.directory.partition_labs import require_free
from domain.directory.partitions import number_of_lab
from domain.errors import Refused
from domain.fast_dataclasses import changed
from domain.partition_numbers import DEFAULT_NUMBER
from domain.recipe.lifecycle import PLACED
from domain.recipe.state import Recipe
from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from domain.system.state import System
from tests.domain.scheduling.two_partitions import NOBODYS, OTHER, TwoPartitions
from tests.model_check.case import LabCase
from tests.model_check.model import ModelWorld

# From `default` a lab moves when the other configuration names it, from the other one when that drops it.
MOVES: Mapping[int, tuple[int, ...]] = {
    DEFAULT_NUMBER: (OTHER.number,),
    OTHER.number: (NOBODYS,),
    NOBODYS: (DEFAULT_NUMBER, OTHER.number),
}


class PartitionedWorld(TwoPartitions, ModelWorld):
    """A world of two partitions. The questions of the checks are about the one that decides."""

    def __init__(self, case: LabCase, rules: Iterable[TriggerRule] = TRIGGER_RULES) -> None:
        super().__init__(case, rules)
        for lab in case.labs_of_other or ():
            self.move_lab(lab, OTHER.number)
        self.settle_both()

    @property
    def systems_here(self) -> dict[str, System]:
        number = self.partition.identity.number
        return {name: each for name, each in self.systems.items() if self.number_of(each) == number}

    def number_of(self, system: System) -> int:
        """Return the number of the partition that has a system."""
        return number_of_lab(self.directory, system.lab_controller)

    def is_here(self, recipe: Recipe) -> bool:
        return self._partition_of(recipe) == self.partition.identity.number

    def _partition_of(self, recipe: Recipe) -> int:
        return self._job_numbers[recipe.job_id]

    def turns(self) -> Iterator[None]:
        for number in self.both:
            self.turn_to(number)
            yield

    def submit_job(self, number: int) -> None:
        self.turn_to(self.case.jobs[number].partition)
        super().submit_job(number)

    def preempt(self) -> None:
        for _ in self.turns():
            if not self.partition.triggers:
                super().preempt()

    def move_lab(self, name: str, number: int) -> None:
        """Let a lab leave its partition. What is pending there waits for the new one since the move."""
        super().move_lab(name, number)
        for system in self.systems.values():
            if system.lab_controller == name and system.usage == "pending":
                self.systems[system.fqdn] = changed(system, since=self.position)

    def partitions_at_odds(self) -> Iterator[str]:
        for name, system in self.systems.items():
            having = [each.identity.number for each in self.schedulers() if _has(each, name)]
            if having != [self.number_of(system)] * (self.number_of(system) != NOBODYS):
                yield f"partitions: {name} is in {self.number_of(system)}, and schedulers of {having} have it"
        for recipe in self.recipes.values():
            if recipe.state in PLACED:
                system, number = self.systems[recipe.system or ""], self._partition_of(recipe)
                if self.number_of(system) != number:
                    yield f"partitions: recipe {recipe.recipe_id} of {number} has {system.fqdn} of another"


def _has(scheduler: Any, name: str) -> bool:
    system = scheduler.systems.get(name)
    return system is not None and scheduler.has_lab(system.lab_controller)


def lab_moves(world: ModelWorld) -> list[tuple[str, int]]:
    """Return the labs that are free to leave, each with the partitions to which it may move."""
    labs = world.case.labs if isinstance(world, PartitionedWorld) else ()
    free = [lab for lab in labs if _is_free(world, lab)]
    return [(lab, number) for lab in free for number in MOVES[number_of_lab(world.directory, lab)]]


def _is_free(world: ModelWorld, lab: str) -> bool:
    try:
        require_free(
            world.directory, lab, (each for each in world.systems.values() if each.lab_controller == lab)
        )
    except Refused:
        return False
    return True


def world_of(case: LabCase, rules: Iterable[TriggerRule] = TRIGGER_RULES) -> ModelWorld:
    """Return the first world of a case."""
    return ModelWorld(case, rules) if case.labs_of_other is None else PartitionedWorld(case, rules)
