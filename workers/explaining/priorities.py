"""The last change of each recipe set's priority: its actor and its event."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from domain.events import Recorded
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.scheduling.world.partition import Partition
from workers.explaining.follower import Follower


def add_changes(follower: Follower, partition: Partition, told: Iterable[dict[str, Any]], upto: int) -> None:
    """Add `priority_change` to descriptions that have a `recipe_id`, as of a position. One query."""
    described = list(told)
    sets = {one["recipe_id"]: partition.sets.recipes[one["recipe_id"]].recipe_set_id for one in described}
    pasts = follower.pasts({f"recipe-set/{number}" for number in sets.values()}, upto)
    for one in described:
        one["priority_change"] = _last_change(pasts[f"recipe-set/{sets[one['recipe_id']]}"])


def _last_change(past: Iterable[Recorded]) -> dict[str, Any] | None:
    said = [each for each in past if isinstance(each.event, RecipeSetSubmitted | RecipeSetPriorityChanged)]
    for before, last in reversed(list(pairwise(said))):
        return {
            "actor": last.stamp.actor,
            "position": last.position,
            "at": last.recorded_at,
            "was": before.event.priority,  # type: ignore[attr-defined]
            "became": last.event.priority,  # type: ignore[attr-defined]
        }
    return None
