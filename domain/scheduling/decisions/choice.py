"""The order of preference of several idle systems for a recipe (design section 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import nth
from domain.scheduling.world.partition import Partition


def choices(partition: Partition, host: Recipe, candidates: int, cause: str) -> Iterator[int]:
    """Yield the numbers of the candidates (a bitmap), the preferred one first.

    The pools that the recipe names come first, in their order, then the other systems. Systems of a pool are
    in random order if the recipe requests that. Otherwise systems of the job's owner come first; of these or
    the rest, the systems that the fewest recipes could use, by name.
    """
    pick = _by_chance(host, cause) if host.autopick_random else _by_preference(partition, host)
    for preferred in (*(partition.labs.pool[name] for name in host.autopick_pools), candidates):
        left = candidates & preferred
        while left:
            number = pick(left)
            left &= ~(1 << number)
            candidates &= ~(1 << number)
            yield number


def _by_chance(host: Recipe, cause: str) -> Callable[[int], int]:
    """Return a pseudo-random choice that depends only on the log, so that a replay makes the same choice."""
    digest = int.from_bytes(sha256(f"{cause}/{host.recipe_id}".encode()).digest())
    return lambda left: nth(left, digest % left.bit_count())


def _by_preference(partition: Partition, host: Recipe) -> Callable[[int], int]:
    own = partition.labs.owner[host.owner]

    def pick(left: int) -> int:
        fewest = partition.filters.least_demanded(left & own or left)
        return partition.labs.first_by_name(fewest)

    return pick
