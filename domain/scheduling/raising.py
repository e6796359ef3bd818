"""Which triggers an event raises: new jobs and pending systems, and by their tables wake-ups and let-go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from domain.events import Event, Recorded, split_subject
from domain.recipe_set.events import RecipeSetSubmitted
from domain.scheduling.triggers import LET_GO, NEW_JOB, PENDING_SYSTEM, WAKE_UP, Trigger
from domain.scheduling.wake_ups import LET_GOES, Happened, Row, by_event
from domain.system.events import SystemPending

if TYPE_CHECKING:
    from domain.scheduling.partition import Partition


class Raising:
    """Mutable: it knows which commit is being read, and asks each quiet question once in it."""

    def __init__(self, wake_ups: Iterable[Row]) -> None:
        self._wake_ups = by_event(wake_ups)
        self._let_goes = by_event(LET_GOES)
        self._commit_end = 0
        self._asked: dict[tuple[str, str], None] = {}

    def triggers(self, recorded: Recorded, happened: Happened, partition: Partition) -> Iterator[Trigger]:
        """Of an event in the log; the partition has taken it in."""
        if recorded.commit_end != self._commit_end:
            self._commit_end = recorded.commit_end
            self._asked.clear()
        for kind, name in self._questions(happened, partition):
            trigger = Trigger(recorded.position, kind, name)
            if not trigger.quiet or (kind, name) not in self._asked:
                self._asked[kind, name] = None
                yield trigger

    def wake_ups(self, happened: Happened, partition: Partition) -> Iterator[str]:
        """Only the subjects of the wake-ups, of an event that may be supposed."""
        return _by_rows(self._wake_ups, happened, partition)

    def _questions(self, happened: Happened, partition: Partition) -> Iterator[tuple[str, str]]:
        name = split_subject(happened.subject)[1]
        if isinstance(happened.event, SystemPending):
            yield PENDING_SYSTEM, name
        elif isinstance(happened.event, RecipeSetSubmitted):
            yield NEW_JOB, name
        for lab_controller in _by_rows(self._let_goes, happened, partition):
            yield LET_GO, lab_controller
        for subject in self.wake_ups(happened, partition):
            yield WAKE_UP, subject


def _by_rows(
    rows: Mapping[type[Event], tuple[Row, ...]], happened: Happened, partition: Partition
) -> Iterator[str]:
    for row in rows.get(type(happened.event), ()):
        yield from row.asks(happened, partition)
