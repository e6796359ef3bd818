"""The reasons why the queue of one recipe has its turn before that of another one (design 6.2)."""

from __future__ import annotations

from domain.priority import Priority
from domain.queues.order import Contender
from domain.recipe.state import Recipe
from domain.scheduling.world.partition import Partition


def queue_of(partition: Partition, recipe: Recipe) -> str:
    """Return the queue of a recipe, an empty text while the recipes of all queues stand in one line."""
    return partition.sets.turns.queue_of(partition.sets.sets[recipe.recipe_set_id])


def turn_of_queue(
    partition: Partition, recipe: Recipe, other: Recipe, theirs: Priority, mine: Priority
) -> str | None:
    """Return why the queue of another recipe has its turn before that of a recipe, None if it has not.

    `theirs` and `mine` are the effective priorities on the system.
    """
    queue_turns = partition.sets.turns
    contenders = Contender(queue_of(partition, other), theirs), Contender(queue_of(partition, recipe), mine)
    turns = queue_turns.turns(*contenders)
    if turns is None or turns[0] >= turns[1]:
        return None
    before, behind = turns
    if before.negative_priority != behind.negative_priority:
        numbers = f"{-before.negative_priority} before {-behind.negative_priority}"
        return f"priority of queue {before.path} before {behind.path}: {numbers}"
    if before.share == behind.share:
        return f"first set of queue {before.path} before {behind.path}, with equal shares"
    used, guaranteed = queue_turns.used, queue_turns.guaranteed
    shares = (f"{used.get(turn.path, 0)} for {guaranteed(turn.path)}" for turn in turns)
    return f"fair share of queue {before.path} before {behind.path}: {' before '.join(shares)} guaranteed"
