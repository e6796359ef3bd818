"""Labs and systems that come into the partition of a scheduler, or leave it (design 6).

A scheduler reads the events of its partition and those of all partitions. A lab that arrives has a history
in another partition, so its events and those of its systems are read by subject, up to the move. A lab that
leaves takes its systems along: nothing is placed or reserved there. What remains of a system is its number
in the columns, with a state that no recipe can use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from domain.directory.events import LabControllerPartitionChanged, LabControllerRemoved
from domain.directory.partitions import number_of_lab
from domain.directory.state import Directory
from domain.events import Moment, Recorded, split_subject
from domain.fast_dataclasses import changed
from domain.partition_numbers import DEFAULT_PARTITION, EVERYBODY, OF_ONE_PARTITION, PartitionIdentity
from domain.subjects import evolve
from domain.system.events import SystemLabControllerChanged, SystemRegistered
from domain.system.state import System

NO_LAB: Final = ""

MOVES: Final = frozenset({LabControllerPartitionChanged, SystemLabControllerChanged})
"""The events that may bring a lab or a system into a partition."""


History = Callable[[Sequence[str], int], Sequence[Recorded]]
"""A function that returns the events of subjects before a position, in log order."""


def no_history(subjects: Sequence[str], before: int) -> Sequence[Recorded]:
    """Raise LookupError: the caller has a log in which no lab or system arrives."""
    raise LookupError(f"the events of {', '.join(subjects)} before {before} are needed")


class LabMoves:
    """The labs of one partition, by its directory and systems. Instances have no state of their own."""

    def __init__(
        self,
        identity: PartitionIdentity,
        directory: Directory,
        systems: Mapping[str, System],
        has_recipe_or_set: Callable[[str], bool],
    ) -> None:
        self._identity = identity
        self._directory = directory
        self._systems = systems
        self._has_recipe_or_set = has_recipe_or_set

    def is_here(self, lab: str) -> bool:
        """Return whether a lab belongs to the partition."""
        return lab != NO_LAB and number_of_lab(self._directory, lab) == self._identity.number

    def concerns(self, recorded: Recorded) -> bool:
        """Return whether the partition folds an event: its own, or one of all that is about it."""
        if recorded.partition != EVERYBODY:
            return recorded.partition == self._identity.number
        kind, name = split_subject(recorded.subject)
        event = recorded.event
        if kind == "partition":
            return name == self._identity.name
        # A removed lab may be registered again, in `default`.
        if kind not in OF_ONE_PARTITION or isinstance(
            event, LabControllerPartitionChanged | LabControllerRemoved
        ):
            return True
        if kind == "lab-controller":
            return self.is_here(name)
        if kind == "system":
            if isinstance(event, SystemLabControllerChanged) and self.is_here(event.lab_controller):
                return True
            system = self._systems.get(name)
            if system is not None:
                return self.is_here(system.lab_controller)
            return isinstance(event, SystemRegistered) and self.is_here(event.lab_controller)
        # From before partitions, or in a commit that concerns all, too: a system may leave its pools and lose
        # its recipe at once.
        return self._identity == DEFAULT_PARTITION or self._has_recipe_or_set(recorded.subject)

    def to_read(self, recorded: Recorded) -> list[str]:
        """Return the subjects whose events up to this one must be read first, because it brings them in."""
        event = recorded.event
        if isinstance(event, LabControllerPartitionChanged):
            _, name = split_subject(recorded.subject)
            if event.partition == self._identity.number and not self.is_here(name):
                return [recorded.subject, *(f"system/{fqdn}" for fqdn in event.systems)]
        elif isinstance(event, SystemLabControllerChanged) and self.is_here(event.lab_controller):
            _, fqdn = split_subject(recorded.subject)
            system = self._systems.get(fqdn)
            if system is None or not self.is_here(system.lab_controller):
                return [recorded.subject]
        return []

    def systems_of(self, lab: str) -> list[System]:
        """Return the systems that have the lab, in the order of their registration here."""
        return [system for system in self._systems.values() if system.lab_controller == lab]


def states_after(history: Iterable[Recorded]) -> list[System]:
    """Return the states of systems after their events, which are complete from the first."""
    states: dict[str, System] = {}
    for recorded in history:
        kind, _ = split_subject(recorded.subject)
        if kind == "system":
            moment = Moment.of(recorded)
            after = evolve(recorded.subject, states.get(recorded.subject), recorded.event, moment)
            assert isinstance(after, System), f"{recorded.subject} is a system"
            states[recorded.subject] = after
    return list(states.values())


def gone(system: System) -> System:
    """Return what remains of a system that has left: no lab, and of no use to any recipe."""
    nobodys = {"usage": "idle", "reservation": None, "loan": None}
    return changed(system, lab_controller=NO_LAB, condition="Removed", **nobodys)


def follows_from_events(system: System) -> bool:
    """Return whether a state follows from the events of the system alone.

    That of `gone` does not, nor that of a system that was pending when it came into the partition.
    """
    return system.lab_controller != NO_LAB and system.usage != "pending"
