"""Partitions in a seed: jobs that name one, and an admin who moves labs and changes states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, Final

from api.parts import Parts
from api.use_cases.change_partition import configure_partition, move_partition
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller
from domain.admission.configuration import Configuration
from domain.directory.partition_labs import naming_partition
from domain.directory.partition_states import DRAIN, START, STOP
from domain.directory.partitions import configuration_of, partition_document
from domain.partition_numbers import PartitionIdentity
from tests.simulation.people.actor import Act, Actor

DONE: Final = {DRAIN: "drains", STOP: "stops", START: "starts"}


def in_partition(
    job: dict[str, Any], dice: Random, partitions: Sequence[PartitionIdentity]
) -> dict[str, Any]:
    """Return a job that names one of several partitions, or none."""
    if len(partitions) == 1 or dice.random() < 0.5:
        return job
    return {**job, "partition": dice.choice(partitions).name}


async def reconfigure(
    services: Parts,
    request: RequestContext,
    name: str,
    change: Callable[[Configuration], Configuration],
) -> Any:
    """Change the configuration that a partition has at present."""
    await services.feed.catch_up()
    before = configuration_of(partition_document(services.feed.directory, name))
    return await configure_partition(services, request, name, change(before))


class PartitionAdmin(Actor):
    """An admin of several partitions, who moves labs between them, and drains and stops them for a while."""

    def kinds(self) -> tuple[Callable[[], Iterator[tuple[float, Act]]], ...]:
        return self._move, self._move, self._state

    def tidy_up(self) -> None:
        for name in self.partitions:
            self.ask(f"starts {name}", partial(move_partition, name=name, move=START))

    def _move(self) -> Iterator[tuple[float, Act]]:
        """Move a lab to another partition, mostly after its systems had time to become free.

        Between both commits the lab is in no partition, and some labs stay there for long.
        """
        lab = self.dice.choice(self.lab["lab_controllers"])["fqdn"]
        disabled = self.dice.random() < 0.7
        if disabled:
            yield 0.0, (f"disables {lab}", _enabling(lab, False))
            yield self.later(), _dropping(lab)
        else:
            yield 0.0, _dropping(lab)
        yield self.later() / 5, _naming(lab, self.dice.choice(self.partitions))
        if disabled:
            yield self.later() / 5, (f"enables {lab}", _enabling(lab, True))

    def _state(self) -> Iterator[tuple[float, Act]]:
        name, move = self.dice.choice(self.partitions), self.dice.choice((DRAIN, STOP))
        for seconds, each in ((0.0, move), (self.later(), START)):
            yield seconds, (f"{DONE[each]} {name}", partial(move_partition, name=name, move=each))


def _enabling(lab: str, enabled: bool) -> Callable[..., Any]:
    return partial(change_lab_controller, name=lab, changes={"enabled": enabled})


def _dropping(lab: str) -> Act:
    """Return the use case that drops a lab from the configuration that names it, if there is one."""

    async def drop(services: Parts, request: RequestContext) -> Any:
        await services.feed.catch_up()
        name = naming_partition(services.feed.directory, lab)
        return None if name is None else await reconfigure(services, request, name, without)

    def without(before: Configuration) -> Configuration:
        return before._replace(lab_controllers=tuple(each for each in before.lab_controllers if each != lab))

    return f"drops {lab}", drop


def _naming(lab: str, partition: str) -> Act:
    def named(before: Configuration) -> Configuration:
        return before._replace(lab_controllers=tuple(sorted({*before.lab_controllers, lab})))

    return f"puts {lab} into {partition}", partial(reconfigure, name=partition, change=named)
