"""The order of room in a line: groups of recipes with one demand and profile, merged (design 5.4)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from domain.scheduling.demand.order import Effort
from domain.scheduling.demand.weighing import Weighing
from domain.scheduling.ranked import Rank, RankedByPriority


class RoomPlace(NamedTuple):
    """The sort key of a recipe in the order of room: nominal priority, highest first, weight, rank.

    Before the weight comes `systems`, as in `Place`.
    """

    negative_priority: int
    systems: int
    weight: int
    rank: Rank


class RoomGroup(NamedTuple):
    """The ranks of recipes with one demand and profile, and the systems that are viable for them."""

    profile: int
    viable: int
    ranks: RankedByPriority


def places_in_order(
    groups: Iterable[RoomGroup],
    weighing: Weighing,
    effort: Effort,
    is_sought: Callable[[int], bool] = bool,
) -> Iterator[tuple[RoomPlace, int]]:
    """Yield the recipes of groups, each with recipes, in the order of room, with their viable systems.

    A group is left out as soon as its viable systems are not sought. Each recipe costs `effort` one row.
    """
    runs: list[tuple[RoomPlace, int, Iterator[Rank], int | None]] = []
    for profile, viable, group in groups:
        # Without weights all recipes weigh the same.
        static = None if weighing.is_flat else weighing.static_of(profile)
        ranks = iter(group)
        systems = weighing.classes[profile].systems
        runs.append((_place(next(ranks), systems, static, weighing), viable, ranks, static))
    heapq.heapify(runs)
    while runs:
        place, viable, ranks, static = runs[0]
        if not is_sought(viable):
            heapq.heappop(runs)
            continue
        yield place, viable
        effort.rows += 1
        following = next(ranks, None)
        if following is None:
            heapq.heappop(runs)
        else:
            place = _place(following, place.systems, static, weighing)
            heapq.heapreplace(runs, (place, viable, ranks, static))


def _place(rank: Rank, systems: int, static: int | None, weighing: Weighing) -> RoomPlace:
    weight = 0 if static is None else weighing.weight(static, rank.recipe_id)
    return RoomPlace(rank.negative_priority, systems, weight, rank)
