"""Explanations of waiting sets of queues below their guarantee: why they preempt nobody (design 6.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.preemption import has_passed, is_below, is_due, taking_of
from domain.scheduling.decisions.preemption_plans import VictimLists, plan_for, why_spared
from domain.scheduling.world.partition import Partition

MAY_GIVE_WAY: Final = "could give way, but a guarantee, a limit or `most_per_job` forbids it"


def preemption_of(partition: Partition, host: Recipe, now: datetime) -> str | None:
    """Return when the set of a waiting recipe preempts others, or why nobody gives way.

    None if preemption is off, if the queue has what it is guaranteed, or if the set is held back.
    """
    recipe_set = partition.sets.sets[host.recipe_set_id]
    queue, section = recipe_set.submitted.queue, partition.configuration.preemption
    if not section.is_enabled or not is_below(partition, queue) or recipe_set.submitted_at is None:
        return None
    turns = partition.sets.turns
    used = f"its queue {queue} has {turns.used.get(queue, 0)} of {turns.guaranteed(queue)} guaranteed systems"
    if not has_passed(recipe_set.submitted_at, now, section.after_seconds):
        return f"{used}; the set may preempt others once it has waited {section.after_seconds} s"
    if not is_due(partition, recipe_set, now):
        return None
    if plan_for(partition, taking_of(partition, recipe_set), VictimLists(partition)) is not None:
        return f"{used}; the set is about to preempt others"
    found = Counter(_holders(partition, host, recipe_set))
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(found.items()))
    return f"{used}; no set can give way{f': {reasons}' if reasons else ''}"


def _holders(partition: Partition, host: Recipe, taking: RecipeSet) -> Iterator[str]:
    """Yield why each set keeps its systems, of those that have systems which the recipe could use."""
    sets, seen = partition.sets, dict[int, None]()
    for number in numbers_in(partition.usable(host)):
        holder = sets.recipes.get(partition.system(number).recipe_id or 0)
        if holder is not None and holder.recipe_set_id not in seen:
            seen[holder.recipe_set_id] = None
            yield why_spared(partition, taking, sets.sets[holder.recipe_set_id]) or MAY_GIVE_WAY
