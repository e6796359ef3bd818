"""The log in two parts, each folded by itself: no event of the one moves what an event of the other reads.

What never changes of jobs and recipes stands on nothing, and goes with the systems: they are fewer.
Folded from the beginning: what is not in memory is nowhere, so nothing is ever fetched; a row is given away
when it has ended, so that none is ever changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from domain.events import Event, Recorded
from postgres.binary_copy import Copied
from projections.fold_commands import command_state
from projections.fold_documents import document, document_removed
from projections.fold_systems import lab_serving, pool_system, system
from projections.folding import FACTS, FOLDED, SKIPPED_EVENTS, Fold
from projections.read_models import ReadModels, number_of

RECIPES, SYSTEMS = "recipes", "systems"
PARTS = (RECIPES, SYSTEMS)

_OF_SYSTEMS = (system, lab_serving, pool_system, document, document_removed)


class Part:
    """What is folded must not be of the topics that are `left_out`."""

    def __init__(self, name: str) -> None:
        self._folds = _of_systems() if name == SYSTEMS else _of_recipes()
        self.left_out = sorted(kind.TOPIC for kind in (*FOLDED, *SKIPPED_EVENTS) if kind not in self._folds)
        self._models = ReadModels(all_known=True)

    @property
    def kept(self) -> int:
        """How many rows have not ended, and so are kept in memory."""
        return self._models.size

    def fold(self, happened: Iterable[Recorded]) -> None:
        models, folds = self._models, self._folds
        for recorded in happened:
            fold = folds[type(recorded.event)]
            if fold is not command_state or self._has_command(number_of(recorded)):
                fold(models, recorded, recorded.event, (recorded.position, recorded.recorded_at))

    def _has_command(self, number: int) -> bool:
        """Commands follow from recipes, or from systems; whoever has one is told of it."""
        return self._models.commands.get((number,)) is not None

    def take_ended(self) -> Iterator[Copied]:
        return self._models.take_ended()

    def take_rest(self) -> Iterator[Copied]:
        """Also what is true now."""
        return self._models.take_rest()


def _of_systems() -> dict[type[Event], Fold]:
    return FACTS | {kind: fold for kind, fold in FOLDED.items() if fold in (*_OF_SYSTEMS, command_state)}


def _of_recipes() -> dict[type[Event], Fold]:
    return {kind: fold for kind, fold in FOLDED.items() if fold not in _OF_SYSTEMS}
