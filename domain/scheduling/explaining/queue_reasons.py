"""The reasons why the queue of one recipe has its turn before that of another one (design 6.2)."""

from __future__ import annotations

from domain.queues.order import Contender
from domain.recipe.state import Recipe
from domain.scheduling.world.partition import Partition


def queue_of(partition: Partition, recipe: Recipe) -> str:
    """Return the queue of a recipe, an empty text while the recipes of all queues stand in one line."""
    return partition.sets.turns.queue_of(partition.sets.sets[recipe.recipe_set_id])


def why_queue_is_first(partition: Partition, one: Contender, other: Contender) -> str | None:
    """Return why the queue of one recipe has its turn before that of another one, None if it has not."""
    queue_turns = partition.sets.turns
    if queue_turns.compare(one, other) >= 0:
        return None
    turns = queue_turns.turns(one, other)
    if turns is None:
        return f"queue {one.queue} before the queues below it"
    before, behind = turns
    if before.negative_priority != behind.negative_priority:
        numbers = f"{-before.negative_priority} before {-behind.negative_priority}"
        return f"priority of queue {before.path} before {behind.path}: {numbers}"
    if before.share == behind.share:
        return f"first set of queue {before.path} before {behind.path}, with equal shares"
    shares = (
        _share_text(queue_turns.used.get(each, 0), queue_turns.guaranteed(each))
        for each in (before.path, behind.path)
    )
    return f"fair share of queue {before.path} before {behind.path}: {' before '.join(shares)}"


def _share_text(used: int, guaranteed: int | None) -> str:
    systems = f"{used} {'system' if used == 1 else 'systems'}"
    return f"{systems} for {guaranteed} guaranteed" if guaranteed else f"{systems} without a guarantee"
