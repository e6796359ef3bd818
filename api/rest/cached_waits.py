"""The waits that estimates compare, queried once for all recipes of a kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from domain.estimates.estimate import ComparedWaits, ObservedWaits
from domain.estimates.kinds import RecipeKind
from projections.reader import At, Reader

MAX_ENDED_WAITS: Final = 2_000
"""The maximum number of ended waits of a kind that an estimate compares: the last ones."""
# How long the estimates of queues compare the same waits, and how many these may be.
_MAX_AGE: Final = timedelta(seconds=30)
_MAX_KEPT_WAITS: Final = 200_000


class SearchedKind(NamedTuple):
    """A kind of recipes with its properties; None stands for any."""

    kind: RecipeKind
    partition: int
    requirement: str | None
    arch: str | None
    priority: int | None


class CachedWaits:
    """The waits of kinds of recipes as of one position and moment, each queried once. Mutable.

    The wait of `recipe_id` itself is not compared.
    """

    def __init__(self, position: int, moment: datetime, recipe_id: int | None = None) -> None:
        self.position = position
        self.moment = moment
        self._recipe_id = recipe_id
        self._waits: dict[SearchedKind, ComparedWaits] = {}
        self.size = 0

    def __getitem__(self, kind: SearchedKind) -> ComparedWaits:
        return self._waits[kind]

    async def query(self, reader: Reader, kinds: Iterable[SearchedKind]) -> None:
        """Query the waits of these kinds, unless they are cached."""
        missing = [kind for kind in dict.fromkeys(kinds) if kind not in self._waits]
        if not missing:
            return
        rows = await reader.rows(
            "comparable_waits",
            {
                "at": self.position,
                "moment": self.moment,
                "partitions": [kind.partition for kind in missing],
                "requirements": [kind.requirement for kind in missing],
                "arches": [kind.arch for kind in missing],
                "priorities": [kind.priority for kind in missing],
                "recipe_id": self._recipe_id,
                "limit": MAX_ENDED_WAITS,
            },
        )
        self.size += len(rows)
        # In a thread, because it would block the event loop for milliseconds.
        self._waits.update(await asyncio.to_thread(_compared, missing, rows))


class RecentWaits:
    """The waits that estimates of queues compare: as of some seconds ago, so that most are cached. Mutable.

    A queue has an estimate for each recipe, and pages of it are read once a second while somebody looks on.
    """

    def __init__(self) -> None:
        self._cached: CachedWaits | None = None

    def cached(self, at: At, moment: datetime, *, is_past: bool) -> CachedWaits:
        """Return the waits to compare in a read; if it is about the past, as of its own position."""
        if is_past:
            return CachedWaits(at.position, moment)
        cached = self._cached
        if cached is None or cached.position > at.position or _is_expired(cached, moment):
            self._cached = cached = CachedWaits(at.position, moment)
        return cached


def _is_expired(cached: CachedWaits, moment: datetime) -> bool:
    return moment - cached.moment >= _MAX_AGE or cached.size > _MAX_KEPT_WAITS


async def arches_of_waits(reader: Reader, partitions: list[int]) -> list[str]:
    """Return the architectures that requirements of recipes in these partitions have named."""
    rows = await reader.rows("arches_of_waits", {"partitions": partitions})
    return [row["arch"] for row in rows]


def _compared(
    kinds: Sequence[SearchedKind], rows: Iterable[dict[str, Any]]
) -> dict[SearchedKind, ComparedWaits]:
    of_kinds: dict[int, list[ObservedWaits]] = {
        number: [ObservedWaits(*(row[name] for name in ObservedWaits._fields)) for row in members]
        for number, members in groupby(rows, key=itemgetter("kind"))
    }
    return {kind: ComparedWaits(kind.kind, of_kinds.get(number, [])) for number, kind in enumerate(kinds, 1)}
