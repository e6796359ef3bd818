"""Updates of the triggers and their batch from the stamps of recorded decisions."""

from __future__ import annotations

from domain.events import Stamp
from domain.scheduling.sets.recipe_sets import RecipeSets
from domain.scheduling.world.triggers import Triggers

# Policy version 1 answered no wake-ups, so its decisions say nothing about earlier triggers.
FIRST_WITH_WAKE_UPS = 2


def resume(triggers: Triggers, sets: RecipeSets, stamp: Stamp) -> None:
    """Advance the triggers past a commit of the log, if it is a decision of the scheduler."""
    if stamp.basis is None:
        return
    if stamp.basis.batch is not None:
        triggers.resume(stamp.basis.batch)
        end_batch_unless(sets, stamp.basis.batch.left)
    elif stamp.basis.policy_version >= FIRST_WITH_WAKE_UPS:
        _as_before_batches(triggers, stamp.cause)


def catch_up(triggers: Triggers, sets: RecipeSets, stamp: Stamp) -> None:
    """Advance the triggers to just before a commit with a basis, so that its decisions can be recomputed."""
    assert stamp.basis is not None, "the commit has a basis"
    if stamp.basis.batch is None:
        _as_before_batches(triggers, stamp.cause)
        return
    before = triggers.batch
    triggers.catch_up(stamp.basis.batch)
    end_batch_unless(sets, before.left if triggers.batch == before else None)


def _as_before_batches(triggers: Triggers, cause: str) -> None:
    if cause.startswith("event/"):
        triggers.answered_before(int(cause.removeprefix("event/")))


def end_batch_unless(sets: RecipeSets, left: str | None) -> None:
    """End the batch if no kind is `left`, so that newly assigned recipes rank with the assigned ones."""
    if left is None:
        sets.end_batch()


def is_newly_assigned(stamp: Stamp) -> bool:
    """Return whether a recipe that this event assigns is newly assigned: its batch is unfinished."""
    batch = None if stamp.basis is None else stamp.basis.batch
    return batch is not None and batch.left is not None
