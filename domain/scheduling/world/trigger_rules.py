"""The rules that say which triggers an event raises: new jobs, pending systems, wake-ups and let-go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from domain.events import Event, split_subject
from domain.recipe_set.events import RecipeSetSubmitted
from domain.scheduling.world.triggers import LET_GO, NEW_JOB, PENDING_SYSTEM, QUIET, WAKE_UP
from domain.scheduling.world.wake_ups import LET_GOES, Happened, TriggerRule
from domain.system.events import SystemPending

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition

TriggerKey = tuple[str, str]
"""The kind and the name of a trigger."""


def _its_name(happened: Happened, _: Partition) -> Iterator[str]:
    yield split_subject(happened.subject)[1]


PENDING = (TriggerRule("system pending", (SystemPending,), _its_name),)
SUBMITTED = (TriggerRule("set submitted", (RecipeSetSubmitted,), _its_name),)


class TriggerRules:
    """The rules by type of event. Mutable: each quiet trigger is raised only once per commit."""

    def __init__(self, wake_ups: Iterable[TriggerRule]) -> None:
        tables = ((PENDING_SYSTEM, PENDING), (NEW_JOB, SUBMITTED), (LET_GO, LET_GOES), (WAKE_UP, wake_ups))
        self._rows: dict[type[Event], tuple[tuple[str, TriggerRule], ...]] = {}
        for kind, rows in tables:
            for row in rows:
                for event in row.events:
                    self._rows[event] = (*self._rows.get(event, ()), (kind, row))
        self._commit_end = 0
        self._raised: dict[TriggerKey, None] = {}

    def may_raise(self, event: Event) -> bool:
        """Return whether a rule lists the type of this event."""
        return type(event) in self._rows

    def triggers_of(self, happened: Happened, partition: Partition) -> Iterable[TriggerKey]:
        """Return the triggers of an event that the partition has applied, tentatively or from the log."""
        rows = self._rows.get(type(happened.event))
        if rows is None:
            return ()
        return ((kind, name) for kind, row in rows for name in row.targets(happened, partition))

    def is_new(self, commit_end: int, key: TriggerKey) -> bool:
        """Return whether to raise a trigger; False for a quiet one that this commit has raised already."""
        if commit_end != self._commit_end:
            self._commit_end = commit_end
            self._raised.clear()
        if key[0] in QUIET and key in self._raised:
            return False
        self._raised[key] = None
        return True
