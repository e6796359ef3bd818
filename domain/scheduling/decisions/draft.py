"""Drafts of decisions, whose events are applied tentatively to the partition as they are added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from domain.events import Batch, Event
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger
from domain.system.state import System


@dataclass(frozen=True)
class Decision:
    """The answer to a trigger, the versions it depends on, and the `batch` of triggers that it answers."""

    trigger: Trigger
    events: tuple[tuple[str, Event], ...]
    expected: tuple[tuple[str, int], ...]
    batch: Batch | None = field(default=None, compare=False)


class Draft:
    """An unfinished decision. Mutable; call `decision` at the end. It is true if it has any events."""

    def __init__(self, partition: Partition, trigger: Trigger) -> None:
        self.partition = partition
        self.trigger = trigger
        self._events: list[tuple[str, Event]] = []
        self._expected: dict[str, int] = {}

    def add(self, events: Iterable[tuple[str, Event]]) -> None:
        """Add events of recipes and systems in log order, and apply them tentatively."""
        for subject, event in events:
            before = self.partition.apply_tentatively(subject, event)
            self._expected.setdefault(subject, before.version)
            if isinstance(before, System) and before.recipe_id is None:
                # Its lab may leave the partition before the commit. With a recipe on the system it cannot.
                self._depend_on_lab(before.lab_controller)
            self._events.append((subject, event))

    def depend_on(self, subjects: Iterable[str]) -> None:
        """Add directory entries to the version check of the commit."""
        for subject in subjects:
            self._expected.setdefault(subject, self.partition.directory.version(subject))

    def _depend_on_lab(self, lab: str) -> None:
        subject = f"lab-controller/{lab}"
        # A lab that was removed long ago has no version here, and cannot move.
        if self.partition.directory.version(subject):
            self.depend_on((subject,))

    def __bool__(self) -> bool:
        return bool(self._events)

    def decision(self) -> Decision:
        return Decision(self.trigger, tuple(self._events), tuple(self._expected.items()))


def with_batch(partition: Partition, decisions: list[Decision]) -> list[Decision]:
    """Return the decisions of one commit with the present batch of the partition."""
    batch = partition.triggers.batch
    return [replace(decision, batch=batch) for decision in decisions]
