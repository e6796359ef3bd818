"""Folds of claims: the interval in which a waiting recipe claims a busy system."""

from __future__ import annotations

from domain.events import Recorded
from domain.recipe.events import RecipeClaimed, RecipeClaimEnded
from projections.intervals import Instant
from projections.read_models import ReadModels, number_of
from projections.rows import ClaimRow


def recipe_claimed(models: ReadModels, recorded: Recorded, event: RecipeClaimed, now: Instant) -> None:
    models.claims.put((number_of(recorded),), ClaimRow(event.system, event.forced), now)


def claim_ended(models: ReadModels, recorded: Recorded, event: RecipeClaimEnded, now: Instant) -> None:
    models.claims.end((number_of(recorded),), now)
