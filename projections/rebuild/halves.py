"""The two halves of a rebuild, which can be folded independently: recipes, and systems.

No event of one half changes a row that the other half reads. The facts of jobs and recipes depend on no row,
and go with the systems, which are the smaller half. So do the events that only add their actor. The processes
of both halves return rows for the same actors, and the rebuild deletes the later ones. A half is folded from
the beginning of the log, so it never fetches a row. It writes each row once the row is closed, so it never
updates one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from domain.events import Event, Recorded
from postgres.binary_copy import CopyData
from projections.fold_commands import put_command_state
from projections.fold_notes import note_added, note_removed
from projections.fold_systems import (
    put_document,
    put_lab_serving,
    put_pool_system,
    put_system,
    remove_document,
)
from projections.folding import FACTS, FOLDED, SKIPPED_EVENTS, Fold
from projections.intervals import Instant
from projections.read_models import ReadModels, number_of

RECIPES, SYSTEMS = "recipes", "systems"
HALVES = (RECIPES, SYSTEMS)

_SYSTEM_FOLDS = (
    *(put_system, put_lab_serving, put_pool_system, put_document, remove_document),
    *(note_added, note_removed),
)


class Half:
    """A fold of one half of the events, which must not have one of the `excluded_topics`."""

    def __init__(self, name: str) -> None:
        self._folds = _system_half() if name == SYSTEMS else _recipe_half()
        self.excluded_topics = sorted(
            kind.TOPIC for kind in (*FOLDED, *SKIPPED_EVENTS) if kind not in self._folds
        )
        self._models = ReadModels(tables_are_empty=True)

    @property
    def open_row_count(self) -> int:
        """Return the number of open rows, which are in memory."""
        return self._models.size

    def fold(self, events: Iterable[Recorded]) -> None:
        models, folds = self._models, self._folds
        for recorded in events:
            models.actor_parts.add(recorded)
            fold = folds[type(recorded.event)]
            if fold is not put_command_state or self._has_command(number_of(recorded)):
                fold(models, recorded, recorded.event, (recorded.position, recorded.recorded_at))

    def _has_command(self, number: int) -> bool:
        return self._models.commands.get((number,)) is not None

    def take_closed_rows(self) -> Iterator[CopyData]:
        return self._models.take_closed_rows()

    def take_remaining_rows(self) -> Iterator[CopyData]:
        """Yield the remaining rows, open ones included."""
        return self._models.take_remaining_rows()


def _system_half() -> dict[type[Event], Fold]:
    skipped: dict[type[Event], Fold] = dict.fromkeys(SKIPPED_EVENTS, _skip)
    systems = {kind: fold for kind, fold in FOLDED.items() if fold in (*_SYSTEM_FOLDS, put_command_state)}
    return {**skipped, **FACTS, **systems}


def _skip(models: ReadModels, recorded: Recorded, event: Event, now: Instant) -> None:
    """Fold nothing: the read models have no more of the event than its actor."""


def _recipe_half() -> dict[type[Event], Fold]:
    return {kind: fold for kind, fold in FOLDED.items() if fold not in _SYSTEM_FOLDS}
