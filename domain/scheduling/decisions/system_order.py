"""The order in which a system considers recipes (design 5.2, 6.2): tiers, the turns of queues, places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple, TypeVar

from domain.queues.order import Keyed
from domain.recipe.state import Recipe
from domain.scheduling.demand.lines import OWED, QUEUED, assigned_lines, queued_lines, room_line
from domain.scheduling.demand.order import Place
from domain.scheduling.sets.queue_turns import ONE_LINE, key_among_queues
from domain.scheduling.world.partition import Partition
from domain.system.state import System

T = TypeVar("T")


class Tier(NamedTuple):
    """Recipes that come before those of later tiers: assigned and owed ones, queued ones, or both.

    Queues have turns in a tier with queued recipes.
    """

    has_assigned: bool
    has_queued: bool


ONE_TIER: Final = (Tier(has_assigned=True, has_queued=True),)
ASSIGNED_FIRST: Final = (
    Tier(has_assigned=True, has_queued=False),
    Tier(has_assigned=False, has_queued=True),
)


def tiers_of(partition: Partition) -> tuple[Tier, ...]:
    """Return the tiers of recipes, by the configured `order.assigned_first`."""
    return ASSIGNED_FIRST if partition.sets.turns.is_assigned_first else ONE_TIER


def lines_of(partition: Partition, tier: Tier, lab_controller: str, queue: str) -> tuple[str, ...]:
    """Return the lines of a tier and queue that a system of the lab considers, which rank together."""
    found = assigned_lines(lab_controller, queue) if tier.has_assigned else ()
    if tier.has_queued:
        found += queued_lines(lab_controller, queue)
    for number in partition.sets.rooms.open(queue):
        found += _lines_of_class(tier, number)
    return found


def _lines_of_class(tier: Tier, number: int) -> tuple[str, ...]:
    owed = (room_line(OWED, number),) if tier.has_assigned else ()
    return (*owed, room_line(QUEUED, number)) if tier.has_queued else owed


def queues_of(partition: Partition, tier: Tier) -> Iterator[str]:
    """Yield the queues whose recipes stand in lines of their own in a tier."""
    yield from partition.sets.turns.queues if tier.has_queued else (ONE_LINE,)


def lines_of_lab(partition: Partition, lab_controller: str) -> Iterator[str]:
    """Yield all lines that a system of the lab considers, in no order."""
    for tier in tiers_of(partition):
        for queue in queues_of(partition, tier):
            yield from lines_of(partition, tier, lab_controller, queue)


def in_turn(
    partition: Partition, tier: Tier, items_of: Callable[[str], Iterator[Keyed[T]]]
) -> Iterator[Keyed[T]]:
    """Yield the items of all queues in a tier in order, from those of each queue."""
    return partition.sets.turns.ordered(items_of) if tier.has_queued else items_of(ONE_LINE)


def first_in_turn(
    partition: Partition, recipes_of: Callable[[Tier, str], Iterator[Keyed[Recipe]]]
) -> Recipe | None:
    """Return the first recipe of all; `recipes_of` returns those of a tier and queue in order."""
    for tier in tiers_of(partition):
        first = next(in_turn(partition, tier, partial(recipes_of, tier)), None)
        if first is not None:
            return first[1]
    return None


def places_for_system(partition: Partition, system: System) -> Iterator[tuple[int, Place]]:
    """Yield tier and place of eligible recipes in the order of the system. A change ends the validity."""
    forced_only = partition.is_for_forced_only(system)

    def items_of(tier: Tier, queue: str) -> Iterator[Keyed[Place]]:
        lines = lines_of(partition, tier, system.lab_controller, queue)
        places = partition.filters.ranked_recipes(system.fqdn, lines, forced_only=forced_only)
        return ((key_among_queues(place), place) for place in places)

    for number, tier in enumerate(tiers_of(partition)):
        for _, place in in_turn(partition, tier, partial(items_of, tier)):
            yield number, place
