"""The reasons in decisions, by subject."""

from __future__ import annotations

from collections.abc import Iterable

from domain.recipe.events import RecipeAborted
from domain.scheduling.decisions.draft import Decision
from tests.domain.scheduling.world import World


def reasons(decisions: Iterable[Decision]) -> dict[str, str]:
    """Return the reasons of decisions in which every event has one."""
    events = [pair for decision in decisions for pair in decision.events]
    return {subject: event.reason for subject, event in events}  # type: ignore[attr-defined]


def reasons_to_abort(world: World) -> dict[str, str]:
    """Return the reasons of the only remaining decision, which aborts recipes."""
    (decision,) = world.settle()
    assert all(isinstance(event, RecipeAborted) for _, event in decision.events)
    return reasons([decision])
