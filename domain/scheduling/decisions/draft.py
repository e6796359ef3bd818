"""Drafts: decisions in the making, whose events are applied tentatively at once for the next step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from domain.events import Batch, Event
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger


@dataclass(frozen=True)
class Decision:
    """The answer to one trigger, and the versions of the aggregates that it depends on.

    `batch` records the triggers that are answered after the commit of the decision.
    """

    trigger: Trigger
    events: tuple[tuple[str, Event], ...]
    expected: tuple[tuple[str, int], ...]
    batch: Batch | None = field(default=None, compare=False)


class Draft:
    """The events of a decision so far. Mutable; call `decision` at the end."""

    def __init__(self, partition: Partition, trigger: Trigger) -> None:
        self.partition = partition
        self.trigger = trigger
        self._events: list[tuple[str, Event]] = []
        self._expected: dict[str, int] = {}

    def happen(self, events: Iterable[tuple[str, Event]]) -> None:
        """Add events of recipes and systems, in log order."""
        for subject, event in events:
            before = self.partition.apply_tentatively(subject, event)
            self._expected.setdefault(subject, before.version)
            self._events.append((subject, event))

    def rest_on(self, subjects: Iterable[str]) -> None:
        """Add directory entries to the optimistic version check of the commit."""
        for subject in subjects:
            self._expected.setdefault(subject, self.partition.directory.version(subject))

    def __bool__(self) -> bool:
        return bool(self._events)

    def decision(self) -> Decision:
        return Decision(self.trigger, tuple(self._events), tuple(self._expected.items()))


def recorded(partition: Partition, decisions: list[Decision]) -> list[Decision]:
    """Return the decisions of one commit with the triggers that are answered after it."""
    batch = partition.triggers.batch
    return [replace(decision, batch=batch) for decision in decisions]
