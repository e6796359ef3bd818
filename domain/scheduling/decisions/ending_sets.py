"""The end of sets that admission rejects: those of job filters, and those whose dependencies have failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from domain.admission.dependencies import Effect
from domain.recipe_set.ending import abort_set, cancel_set
from domain.scheduling.admitting.admission import JOB_FILTER, HeldBack
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import ADMISSION, Trigger


class Ending(NamedTuple):
    """A set that admission ends, and the trigger that the decision answers."""

    trigger: Trigger
    recipe_set_id: int


def ending_sets(partition: Partition) -> Iterator[Ending]:
    """Yield the sets that the triggers of the batch end; the caller ends each before it asks for the next."""
    for trigger in partition.triggers.of_batch(ADMISSION):
        for recipe_set_id in partition.sets.admission.ending_after(trigger.name):
            if is_due(partition, recipe_set_id):
                yield Ending(trigger, recipe_set_id)


def is_due(partition: Partition, recipe_set_id: int) -> bool:
    """Return whether a set must still be ended here. The decision on a new set ends the set by itself."""
    members = partition.sets.members(recipe_set_id)
    return any(recipe.state == "queued" for recipe in members)


def end_set(partition: Partition, ending: Ending) -> Decision:
    draft = Draft(partition, ending.trigger)
    add_end(draft, ending.recipe_set_id, partition.sets.admission.held_back[ending.recipe_set_id])
    return draft.decision()


def add_end(draft: Draft, recipe_set_id: int, held: HeldBack) -> None:
    """Add the events that end a set which admission rejects."""
    members = draft.partition.members(recipe_set_id)
    if held.row == JOB_FILTER:
        draft.depend_on((draft.partition.identity.subject,))
    if held.effect is Effect.CANCEL:
        draft.add(cancel_set(members, held.reason))
    else:
        draft.add(abort_set(members, {recipe.recipe_id: held.reason for recipe in members.recipes}))
