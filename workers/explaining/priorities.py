"""The last change of each recipe set's priority: its actor and its event."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from domain.events import Recorded
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.scheduling.world.partition import Partition
from workers.explaining.follower import Follower


def add_changes(
    follower: Follower, partition: Partition, descriptions: Iterable[dict[str, Any]], upto: int
) -> None:
    """Add `priority_change` to descriptions that have a `recipe_id`, as of a position. One query at most."""
    described = [(each, partition.sets.recipes[each["recipe_id"]].recipe_set_id) for each in descriptions]
    # Most sets have no event but their submission.
    changed = {f"recipe-set/{number}" for _, number in described if partition.sets.sets[number].version > 1}
    pasts = follower.pasts(changed, upto) if changed else {}
    for description, number in described:
        description["priority_change"] = _last_change(pasts.get(f"recipe-set/{number}", ()))


def _last_change(past: Iterable[Recorded]) -> dict[str, Any] | None:
    changes = [each for each in past if isinstance(each.event, RecipeSetSubmitted | RecipeSetPriorityChanged)]
    for before, last in reversed(list(pairwise(changes))):
        return {
            "actor": last.stamp.actor,
            "position": last.position,
            "at": last.recorded_at,
            "was": before.event.priority,  # type: ignore[attr-defined]
            "became": last.event.priority,  # type: ignore[attr-defined]
        }
    return None
