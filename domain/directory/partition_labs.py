"""The labs of partitions: which ones a configuration names, and their moves from one partition to another.

A lab is in one partition: in `default` until the configuration of another one names it, and in none once that
configuration drops it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from domain.directory.events import LabControllerPartitionChanged
from domain.directory.partitions import (
    KIND,
    LAB,
    identities,
    number_of_lab,
    partition_document,
)
from domain.directory.state import Directory
from domain.errors import Fault, Refused, display_name, listed, unknown_name
from domain.events import Decided
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY, PartitionIdentity
from domain.system.state import System


class LabMove(NamedTuple):
    """The move of a lab to a partition, by number; 0 stands for none."""

    lab: str
    partition: int


def labs_named_by(directory: Directory, partition: str) -> tuple[str, ...]:
    """Return the labs that the configuration of a partition names."""
    configuration = partition_document(directory, partition).get("configuration", {})
    return tuple(configuration.get("lab_controllers", ()))


def naming_partition(directory: Directory, lab: str) -> str | None:
    """Return the partition whose configuration names a lab, None if there is none."""
    partitions = (identity.name for identity in identities(directory))
    return next((name for name in partitions if lab in labs_named_by(directory, name)), None)


def fault_of_lab(directory: Directory, partition: str, lab: str) -> str | None:
    """Return why the configuration of a partition may not name a lab: it is unknown, or named by another."""
    if directory.get(LAB, lab) is None:
        return unknown_name(LAB, lab)
    named_by = naming_partition(directory, lab)
    if named_by not in (None, partition):
        return f"{lab} is in {display_name(KIND, str(named_by))}; drop it there first"
    return None


def faults_of_labs(directory: Directory, partition: str, labs: Sequence[str]) -> list[Fault]:
    """Return a fault for each lab that the configuration of a partition may not name."""
    found = ((lab, fault_of_lab(directory, partition, lab)) for lab in labs)
    return [Fault(f"lab_controllers ({lab})", fault) for lab, fault in found if fault is not None]


def moves_to(directory: Directory, partition: PartitionIdentity, labs: Collection[str]) -> list[LabMove]:
    """Return the moves of labs if the configuration of a partition names exactly these."""
    before = labs_named_by(directory, partition.name)
    wanted = dict.fromkeys(sorted(labs), partition.number)
    if partition.number != DEFAULT_NUMBER:
        wanted |= {
            lab: EVERYBODY for lab in before if lab not in labs and directory.get(LAB, lab) is not None
        }
    return [LabMove(lab, number) for lab, number in wanted.items() if number_of_lab(directory, lab) != number]


def labs_in(directory: Directory, partition: int) -> list[str]:
    """Return the labs of a partition."""
    return [lab for lab, _ in directory.items(LAB) if number_of_lab(directory, lab) == partition]


def moves_from(directory: Directory, partition: int) -> list[LabMove]:
    """Return the moves of all labs of a partition into none."""
    return [LabMove(lab, EVERYBODY) for lab in labs_in(directory, partition)]


def move_labs(directory: Directory, moves: Iterable[LabMove], systems: Collection[System]) -> Decided:
    """Return the events of moves; `systems` are all systems of these labs.

    Raises Refused if a recipe or a person has one of the systems.
    """
    decided: Decided = []
    for move in moves:
        of_lab = [system for system in systems if system.lab_controller == move.lab]
        require_free(directory, move.lab, of_lab)
        names = tuple(system.fqdn for system in of_lab)
        decided.append((f"{LAB}/{move.lab}", LabControllerPartitionChanged(move.partition, names)))
    return decided


def require_free(directory: Directory, lab: str, systems: Iterable[System]) -> None:
    """Raise Refused if a lab may not leave its partition, because a recipe or a person has a system."""
    taken = [
        f"{system.fqdn} ({'reserved' if system.recipe_id is None else f'recipe {system.recipe_id}'})"
        for system in systems
        if system.recipe_id is not None or system.reservation is not None
    ]
    if taken:
        advice = "disable the lab controller until its systems are free"
        if not directory.is_enabled(lab):
            # Nothing new starts there.
            advice = "wait until its systems are free, or cancel the jobs and return the reservations"
        raise Refused(
            f"{display_name(LAB, lab)} cannot change its partition: in use are {listed(taken)}; "
            f"{advice}, then repeat the change"
        )
