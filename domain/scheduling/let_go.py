"""Holders give their systems back when they can no longer all be completed (design section 4.3)."""

from __future__ import annotations

from collections.abc import Iterator

from domain.recipe_set.withdrawal import let_go as gives_back
from domain.scheduling.draft import Decision, Draft
from domain.scheduling.granting import holders, plans_of
from domain.scheduling.partition import Partition
from domain.scheduling.reasons import LET_GO
from domain.scheduling.safety import Holder, impossible, stuck
from domain.scheduling.triggers import Trigger


def let_go(partition: Partition, trigger: Trigger) -> Iterator[Decision]:
    """One decision for all who must; none where the state is safe."""
    partition.triggers.take_quiet()
    if plans_of(partition, trigger.name) is not None:
        return
    draft = Draft(partition, trigger)
    for recipe_set_id in _who(partition, holders(partition, trigger.name)):
        draft.happen(gives_back(partition.members(recipe_set_id), LET_GO))
    if draft:
        yield draft.decision()


def _who(partition: Partition, waiting: list[Holder]) -> Iterator[int]:
    """Those that nothing could complete; then the least urgent, latest, of those that are in each other's
    way."""
    left = stuck(waiting)
    hopeless = {holder.recipe_set_id: None for holder in impossible(left)}
    yield from hopeless
    left = stuck([holder for holder in waiting if holder.recipe_set_id not in hopeless])
    while left:
        gone = min(left, key=lambda holder: _urgency(partition, holder))
        yield gone.recipe_set_id
        left = stuck([holder for holder in left if holder is not gone])


def _urgency(partition: Partition, holder: Holder) -> tuple[int, int]:
    recipe_set = partition.sets.sets[holder.recipe_set_id]
    return recipe_set.priority, -recipe_set.submission
