"""The choice between several idle systems for a recipe (design section 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import nth
from domain.scheduling.world.partition import Partition


def choices(partition: Partition, host: Recipe, candidates: int, cause: str) -> Iterator[int]:
    """Yield the candidates (a bitmap) by number, the preferred one first.

    The pools that the job names come first, in their order, then the rest. Within each: by chance if the job
    says so, otherwise the submitter's own systems, then those that the fewest recipes could use, then by
    name.
    """
    pick = _by_chance(host, cause) if host.autopick_random else _by_preference(partition, host)
    for group in (*(partition.labs.pool[name] for name in host.autopick_pools), candidates):
        left = candidates & group
        while left:
            number = pick(left)
            left &= ~(1 << number)
            candidates &= ~(1 << number)
            yield number


def _by_chance(host: Recipe, cause: str) -> Callable[[int], int]:
    """Return a random choice that depends only on the log, so that a replay chooses the same."""
    digest = int.from_bytes(sha256(f"{cause}/{host.recipe_id}".encode()).digest())
    return lambda left: nth(left, digest % left.bit_count())


def _by_preference(partition: Partition, host: Recipe) -> Callable[[int], int]:
    own = partition.labs.owner[host.owner]

    def pick(left: int) -> int:
        fewest = partition.filters.least_demanded(left & own or left)
        return partition.labs.first_by_name(fewest)

    return pick
