"""A decision in the making: each of its events is supposed at once, so that the next step sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from domain.events import Batch, Event
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger


@dataclass(frozen=True)
class Decision:
    """The answer to one trigger, and the versions of the aggregates it rests on.

    `batch` says which triggers are answered after the commit that the decision is in.
    """

    trigger: Trigger
    events: tuple[tuple[str, Event], ...]
    expected: tuple[tuple[str, int], ...]
    batch: Batch | None = field(default=None, compare=False)


class Draft:
    """Mutable; `decision` when it is done."""

    def __init__(self, partition: Partition, trigger: Trigger) -> None:
        self.partition = partition
        self.trigger = trigger
        self._events: list[tuple[str, Event]] = []
        self._expected: dict[str, int] = {}

    def happen(self, events: Iterable[tuple[str, Event]]) -> None:
        """Events of recipes and systems, in log order."""
        for subject, event in events:
            before = self.partition.apply_tentatively(subject, event)
            self._expected.setdefault(subject, before.version)
            self._events.append((subject, event))

    def rest_on(self, subjects: Iterable[str]) -> None:
        """Things known by name that must be in the log as they are known, when the decision gets there."""
        for subject in subjects:
            self._expected.setdefault(subject, self.partition.directory.version(subject))

    def __bool__(self) -> bool:
        return bool(self._events)

    def decision(self) -> Decision:
        return Decision(self.trigger, tuple(self._events), tuple(self._expected.items()))


def recorded(partition: Partition, decisions: list[Decision]) -> list[Decision]:
    """Record in the decisions of one commit which triggers are answered after it."""
    batch = partition.triggers.batch
    return [replace(decision, batch=batch) for decision in decisions]
