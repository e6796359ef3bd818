"""Systems that left the partition, and matched the requirement of a waiting recipe until then."""

from __future__ import annotations

from domain.errors import listed
from domain.recipe.state import Recipe
from domain.requirements import from_text, matching
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.tree_locations import MAX_NAMED
from domain.scheduling.world.lab_moves import NO_LAB
from domain.scheduling.world.partition import Partition


def departed_matches(partition: Partition, host: Recipe, seen: int) -> str:
    """Return a clause that names the `seen` systems that matched when they left; empty without any.

    The partition does not read what happens to a system after it has left, such as a new inventory.
    """
    labs = partition.labs
    matches = matching(from_text(partition.sets.index.key(host).host_requires), labs.columns)
    departed = sorted(
        labs.names[number] for number in numbers_in(labs.lab_controller[NO_LAB] & matches & seen)
    )
    if not departed:
        return ""
    return f"systems that left the partition matched its requirement: {listed(departed, max_named=MAX_NAMED)}"
