"""The state of the triggers after a recorded decision: which are answered, and whether the batch is."""

from __future__ import annotations

from domain.events import Stamp
from domain.scheduling.demand.recipe_sets import RecipeSets
from domain.scheduling.world.triggers import Triggers

# Policy 1 answered no wake-ups: its decisions do not show whether earlier ones were answered.
FIRST_WITH_WAKE_UPS = 2


def resume(triggers: Triggers, sets: RecipeSets, stamp: Stamp) -> None:
    """Advance behind a commit from the log, which answers triggers if the scheduler decided it."""
    if stamp.basis is None:
        return
    if stamp.basis.batch is not None:
        triggers.resume(stamp.basis.batch)
        end_batch_unless(sets, stamp.basis.batch.left)
    elif stamp.basis.policy_version >= FIRST_WITH_WAKE_UPS:
        _as_before_batches(triggers, stamp.cause)


def catch_up(triggers: Triggers, sets: RecipeSets, stamp: Stamp) -> None:
    """Advance to just before such a commit, so that its decisions can be recomputed at their basis."""
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
    """End the batch unless a kind is left; then its newly assigned recipes rank with the assigned ones."""
    if left is None:
        sets.end_batch()


def newly_assigned(stamp: Stamp) -> bool:
    """Return whether a recipe assigned by this event ranks as queued, because its batch is unfinished."""
    batch = None if stamp.basis is None else stamp.basis.batch
    return batch is not None and batch.left is not None
