"""Folds of waits: from the submission of a recipe, or its preemption, until it starts or ends.

A recipe that waits for its resource locks has not started. Guests start with their host, and have no wait.
"""

from __future__ import annotations

from datetime import datetime

from domain.priority import Priority
from domain.recipe.lifecycle import FINISHED
from projections.intervals import Instant
from projections.read_models import ReadModels
from projections.rows import RecipeRow, WaitRow


def update_wait(
    models: ReadModels, recipe_id: int, before: RecipeRow | None, after: RecipeRow, now: Instant
) -> None:
    """Begin the wait of a recipe that is new or has to start again; end it when the recipe starts or ends."""
    waited = before is not None and not before.started
    if after.started or after.state in FINISHED:
        if waited:
            models.waits.end((recipe_id,), now)
    elif not waited:
        _begin(models, recipe_id, now[1], now)


def change_wait(models: ReadModels, recipe_id: int, now: Instant) -> None:
    """Begin another row of a wait after a change of its priority or requirement."""
    before = models.waits.get((recipe_id,))
    if before is None:
        return
    identity = models.recipe_cache.recipes[recipe_id]
    after = _priority(models, identity.recipe_set_id), identity.requirement, identity.arch
    if after != (before.priority, before.requirement, before.arch):
        models.waits.end((recipe_id,), now)
        _begin(models, recipe_id, before.began, now)


def _begin(models: ReadModels, recipe_id: int, began: datetime, now: Instant) -> None:
    identity = models.recipe_cache.recipes[recipe_id]
    if identity.host_recipe_id is not None or identity.requirement is None or identity.arch is None:
        # A guest, or a recipe from before this table, which only a rebuild completes.
        return
    priority = _priority(models, identity.recipe_set_id)
    row = WaitRow(
        partition=identity.partition,
        priority=priority,
        requirement=identity.requirement,
        arch=identity.arch,
        group_name=identity.group_name,
        began=began,
        ahead=models.waiting_counts.ahead(identity.partition, identity.arch, priority),
    )
    models.waits.put((recipe_id,), row, now)


def _priority(models: ReadModels, recipe_set_id: int) -> int:
    return int(Priority[models.recipe_sets.of((recipe_set_id,)).priority])
