"""Invariants of the events of recipes: readable requirements, and reasons."""

from __future__ import annotations

from functools import lru_cache

from replay.audit.invariant import Invariant, Violations
from replay.audit.record import EventRecord
from replay.audit.requirement import unreadable
from replay.audit.tables import GIVEN_UP, PLACED
from replay.audit.world import FoldedWorld

_unreadable = lru_cache(10_000)(unreadable)


class ReadableRequirements(Invariant):
    """The audit can read every host requirement."""

    name = "understood"
    topics = ("recipe.new", "recipe.changed")

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        error = _unreadable(record.data["host_requires"])
        if error is not None:
            what = f"its host requirement cannot be read: {error}"
            yield self.violation([record.position], [record.subject], what)


class EveryUnplacedRecipeHasAReason(Invariant):
    """A recipe is queued, cancelled or aborted with a reason; also assigned, if it loses its system."""

    name = "every_unplaced_recipe_has_a_reason"
    topics = ("recipe.queued", "recipe.assigned", *(f"recipe.{state}" for state in GIVEN_UP))

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if not _needs_reason(world, record):
            return
        reason = record.data.get("reason")
        if not isinstance(reason, str) or not reason.strip():
            yield self.violation(
                [record.position], [record.subject], f"{record.topic} without a reason: {reason!r}"
            )


def _needs_reason(world: FoldedWorld, record: EventRecord) -> bool:
    if record.topic != "recipe.assigned":
        return True
    recipe = world.recipes.get(int(record.name))
    return recipe is not None and recipe.state in PLACED
