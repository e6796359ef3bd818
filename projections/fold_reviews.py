"""Folds of reviews of recipe sets, and of waivers of failures."""

from __future__ import annotations

from typing import Any

from domain.events import Recorded
from domain.recipe_set.events import RecipeSetReviewed, RecipeSetWaived, RecipeSetWaiverEnded
from domain.recipe_set.state import NOT_REVIEWED
from projections.intervals import Instant
from projections.made_by import made_by
from projections.read_models import ReadModels, number_of

OF_TASK, OF_SET = "task", "recipe-set"


def reviewed(models: ReadModels, recorded: Recorded, event: RecipeSetReviewed, now: Instant) -> None:
    key = (number_of(recorded),)
    is_reviewed = event.review != NOT_REVIEWED
    review = {"review": event.review, **made_by(recorded, event.reason, now[1])} if is_reviewed else None
    models.recipe_sets.put(key, models.recipe_sets.of(key)._replace(review=review), now)


def waived(models: ReadModels, recorded: Recorded, event: RecipeSetWaived, now: Instant) -> None:
    unit = OF_SET if event.task_id is None else OF_TASK
    waiver = {"of": unit, **made_by(recorded, event.reason, now[1])}
    _put_waiver(models, number_of(recorded), event.task_id, waiver, now)


def waiver_ended(models: ReadModels, recorded: Recorded, event: RecipeSetWaiverEnded, now: Instant) -> None:
    _put_waiver(models, number_of(recorded), event.task_id, None, now)


def _put_waiver(
    models: ReadModels, set_id: int, task_id: int | None, waiver: dict[str, Any] | None, now: Instant
) -> None:
    if task_id is None:
        models.recipe_sets.put((set_id,), models.recipe_sets.of((set_id,))._replace(waiver=waiver), now)
    else:
        models.tasks.put((task_id,), models.tasks.of((task_id,))._replace(waiver=waiver), now)
