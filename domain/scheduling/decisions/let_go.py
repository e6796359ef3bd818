"""Let-go: holders release their systems if not all holders can be completed (design section 4.3)."""

from __future__ import annotations

from collections.abc import Iterator

from domain.recipe_set.members import let_go as events_of_let_go
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import holders, plans_of
from domain.scheduling.safety.completion import Holder, impossible, stuck
from domain.scheduling.supply import reasons
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import LET_GO, Trigger


def stuck_lab(partition: Partition) -> Trigger | None:
    """Return the first let-go of the batch whose lab has holders that cannot all be completed."""
    triggers = partition.triggers.of_batch(LET_GO)
    return next((trigger for trigger in triggers if plans_of(partition, trigger.name) is None), None)


def let_go(partition: Partition, trigger: Trigger) -> Decision:
    draft = Draft(partition, trigger)
    for recipe_set_id in _sets_to_let_go(partition, holders(partition, trigger.name)):
        draft.add(events_of_let_go(partition.members(recipe_set_id), reasons.LET_GO))
    assert draft, f"the holders of {trigger.name} are stuck"
    return draft.decision()


def _sets_to_let_go(partition: Partition, holders: list[Holder]) -> Iterator[int]:
    """Yield the sets that let go.

    First come the holders that could not be completed even if all others let go. Then, until the state is
    safe, the stuck holder with the lowest priority, of several the one submitted last.
    """
    hopeless = {holder.recipe_set_id: None for holder in impossible(stuck(holders))}
    yield from hopeless
    left = stuck([holder for holder in holders if holder.recipe_set_id not in hopeless])
    while left:
        least_urgent = min(left, key=lambda holder: _urgency(partition, holder))
        yield least_urgent.recipe_set_id
        left = stuck([holder for holder in left if holder is not least_urgent])


def _urgency(partition: Partition, holder: Holder) -> tuple[int, int]:
    recipe_set = partition.sets.sets[holder.recipe_set_id]
    return recipe_set.priority, -recipe_set.submission
