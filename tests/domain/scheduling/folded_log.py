"""A log in memory, folded twice: by a partition, and into plain dictionaries without indexes.

Tests compare the partition with the dictionaries, so that a faulty index is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.directory.state import Directory
from domain.events import Basis, Event, Moment, Recorded, Stamp, split_subject
from domain.partition_numbers import EVERYBODY, partition_of
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.tentative import CommitPlace
from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from domain.subjects import evolve
from domain.system.state import System

BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)


class FoldedLog:
    """Mutable: `commit` appends events to the log, the partition and the dictionaries."""

    def __init__(self, rules: Iterable[TriggerRule] = TRIGGER_RULES) -> None:
        self.log: list[Recorded] = []
        self.rules = tuple(rules)
        self.partition = Partition(rules=self.rules)
        self.systems: dict[str, System] = {}
        self.recipes: dict[int, Recipe] = {}
        self.sets: dict[int, RecipeSet] = {}
        self.directory = Directory()
        self.now = BEGINNING
        # The offset of the database clock from `now`.
        self.database_ahead = timedelta()
        self._recorded_at = BEGINNING
        self._versions: dict[str, int] = {}

    @property
    def position(self) -> int:
        return self.log[-1].position if self.log else 0

    def commit(self, decided: Iterable[tuple[str, Event]]) -> None:
        """Append events of a person or a lab as one commit with one stamp."""
        stamp = Stamp(self.now, "test", "request/test")
        self.append([(subject, event, stamp) for subject, event in decided])

    def commit_decisions(self, decisions: Iterable[Decision], basis: int) -> None:
        """Append decisions as the scheduler process would."""
        made = list(decisions)
        batch = made[0].batch if made else None
        shared = Basis(basis, self.now, 1, POLICY_VERSION, batch, self.partition.identity.number)
        self.append(
            [
                (subject, event, Stamp(self.now, "scheduler", decision.trigger.cause, shared, number))
                for number, decision in enumerate(made)
                for subject, event in decision.events
            ],
            are_decisions=True,
        )

    def append(self, rows: Sequence[tuple[str, Event, Stamp]], are_decisions: bool = False) -> None:
        # Positions have gaps, as in the real log.
        first = self.position + 1 + len(self.log) % 3
        partition = self.partition.identity.number if are_decisions else self.partition_of(rows)
        recorded_at = max(self._recorded_at, self.now + self.database_ahead)
        self._recorded_at = recorded_at
        if are_decisions:
            own = (each.position for each in reversed(self.log) if each.partition in (EVERYBODY, partition))
            place = CommitPlace(first, first + len(rows) - 1, next(own, 0), recorded_at)
            self.partition.confirm(place)
        for offset, (subject, event, stamp) in enumerate(rows):
            version = self._versions[subject] = self._versions.get(subject, 0) + 1
            recorded = Recorded(
                position=first + offset,
                commit_end=first + len(rows) - 1,
                recorded_at=recorded_at,
                subject=subject,
                version=version,
                event=event,
                stamp=stamp,
                partition=partition,
            )
            self.log.append(recorded)
            self._fold(recorded)
            for scheduler in self.schedulers():
                if recorded.position > scheduler.position:
                    self.feed(scheduler, recorded)

    def partition_of(self, rows: Sequence[tuple[str, Event, Stamp]]) -> int:
        """Return the number of the partition of a commit."""
        return partition_of(subject for subject, *_ in rows)

    def schedulers(self) -> list[Partition]:
        return [self.partition]

    def feed(self, scheduler: Partition, recorded: Recorded) -> None:
        """Apply an event with what must be read before it."""
        scheduler.apply(recorded, self.history)

    def history(self, subjects: Sequence[str], before: int) -> list[Recorded]:
        wanted = frozenset(subjects)
        return [each for each in self.log if each.position < before and each.subject in wanted]

    def version(self, subject: str) -> int:
        return self._versions.get(subject, 0)

    def _fold(self, recorded: Recorded) -> None:
        kind, name = split_subject(recorded.subject)
        self.directory.apply(recorded)
        states: dict[str, Any] = {"recipe": self.recipes, "recipe-set": self.sets, "system": self.systems}
        if (of_kind := states.get(kind)) is not None:
            key = name if kind == "system" else int(name)
            of_kind[key] = evolve(recorded.subject, of_kind.get(key), recorded.event, Moment.of(recorded))

    def refolded(self) -> Partition:
        """Return the partition of a scheduler that has just started."""
        return self.fold_into(Partition(self.partition.identity, self.rules))

    def fold_into(self, partition: Partition) -> Partition:
        """Fold what a partition reads of the log."""
        for recorded in self.log:
            if recorded.partition in (EVERYBODY, partition.identity.number):
                self.feed(partition, recorded)
        return partition
