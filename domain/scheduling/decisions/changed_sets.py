"""Waiting sets that no lab can serve any more, as a person changed a recipe: they end as new ones do."""

from __future__ import annotations

from collections.abc import Iterator

from domain.events import split_subject
from domain.recipe_set.ending import abort_set
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.ending_sets import Ending
from domain.scheduling.decisions.impossible import why_no_longer
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import ADMISSION


def impossible_sets(partition: Partition) -> Iterator[Ending]:
    """Yield the changed sets that no lab can serve; the caller ends each before it asks for the next."""
    for trigger in partition.triggers.of_batch(ADMISSION):
        kind, name = split_subject(trigger.name)
        recipe = partition.sets.recipes.get(int(name)) if kind == "recipe" else None
        if recipe is None or recipe.finished:
            continue
        if _waits(partition, recipe.recipe_set_id) and why_no_longer(partition, recipe.recipe_set_id):
            yield Ending(trigger, recipe.recipe_set_id)


def _waits(partition: Partition, recipe_set_id: int) -> bool:
    """Return whether a set waits: it may have started since, and the decision on a new one is to come."""
    members = partition.members(recipe_set_id)
    return not members.started and all(recipe.state != "new" for recipe in members.recipes)


def abort_impossible(partition: Partition, ending: Ending) -> Decision:
    draft = Draft(partition, ending.trigger)
    reasons = why_no_longer(partition, ending.recipe_set_id)
    draft.add(abort_set(partition.members(ending.recipe_set_id), reasons))
    return draft.decision()
