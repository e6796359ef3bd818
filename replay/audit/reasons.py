"""The invariant of reasons: a recipe that waits, returns to the queue or is given up records a reason."""

from __future__ import annotations

from replay.audit.invariant import Found, Invariant
from replay.audit.record import EventRecord
from replay.audit.tables import GIVEN_UP, PLACED
from replay.audit.world import World


class EveryUnplacedRecipeHasAReason(Invariant):
    """Queued, cancelled and aborted record a reason; assigned records one if the recipe lost its system."""

    name = "every_unplaced_recipe_has_a_reason"
    topics = ("recipe.queued", "recipe.assigned", *(f"recipe.{state}" for state in GIVEN_UP))

    def event(self, world: World, record: EventRecord) -> Found:
        if not _needs_reason(world, record):
            return
        reason = record.data.get("reason")
        if not isinstance(reason, str) or not reason.strip():
            yield self.broken(
                [record.position], [record.subject], f"{record.topic} without a reason: {reason!r}"
            )


def _needs_reason(world: World, record: EventRecord) -> bool:
    if record.topic != "recipe.assigned":
        return True
    recipe = world.recipes.get(int(record.name))
    return recipe is not None and recipe.state in PLACED
