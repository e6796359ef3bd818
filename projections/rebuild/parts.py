"""The log in two parts, each folded by itself: no event of the one moves what an event of the other reads.

Folded from the beginning: what is not in memory is nowhere, so nothing is ever fetched; a row is given away
when it has ended, so that none is ever changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from domain.events import Event, Recorded
from projections.copying import Copied
from projections.fold_commands import command_state
from projections.fold_documents import document, document_removed
from projections.fold_systems import lab_enabling, pool_system, system
from projections.folding import FOLDED, NOT_SHOWN, fold
from projections.read_models import ReadModels, number_of

RECIPES, SYSTEMS = "recipes", "systems"
PARTS = (RECIPES, SYSTEMS)

_OF_SYSTEMS = (system, lab_enabling, pool_system, document, document_removed)


class Part:
    """What is folded must not be of the topics that are `left_out`."""

    def __init__(self, name: str) -> None:
        self.left_out = sorted(kind.TOPIC for kind in (*FOLDED, *NOT_SHOWN) if not _is_of(kind, name))
        self._models = ReadModels(all_known=True)

    @property
    def kept(self) -> int:
        """How many rows have not ended, and so are kept in memory."""
        return self._models.size

    def fold(self, happened: Iterable[Recorded]) -> None:
        for recorded in happened:
            if not self._is_of_another(recorded):
                fold(self._models, recorded)

    def _is_of_another(self, recorded: Recorded) -> bool:
        """Commands follow from recipes, or from systems; whoever has one is told of it."""
        if FOLDED.get(type(recorded.event)) is not command_state:
            return False
        return self._models.commands.get((number_of(recorded),)) is None

    def take_ended(self) -> Iterator[Copied]:
        return self._models.take_ended()

    def take_rest(self) -> Iterator[Copied]:
        """Also what is true now."""
        return self._models.take_rest()


def _is_of(kind: type[Event], name: str) -> bool:
    folded = FOLDED.get(kind)
    if folded is None or folded is command_state:
        return folded is not None
    return (folded in _OF_SYSTEMS) == (name == SYSTEMS)
