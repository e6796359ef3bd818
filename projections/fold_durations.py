"""What a recipe's move adds to the histograms of durations.

Guests add nothing: they wait for no system, and what they need is their host's time.
"""

from __future__ import annotations

from datetime import datetime

from domain.recipe.lifecycle import BEFORE_START, UNPLACED
from projections.durations import bucket_of
from projections.intervals import Now
from projections.read_models import ReadModels
from projections.rows import DurationRow


def durations(models: ReadModels, recipe_id: int, before: str, after: str, now: Now) -> None:
    """A recipe has moved from a state to another."""
    if models.members.recipes[recipe_id].host_recipe_id is not None:
        return
    began = models.members.began[recipe_id]
    if before == "waiting" and after not in BEFORE_START:
        # Only now: as long as it is waiting its system may be withdrawn, and then it has waited longer.
        _add(models, "wait", began["new"], began["waiting"], now)
    if after == "running":
        _add(models, "provisioning", began["waiting"], now[1], now)
    if before == "running" and after not in UNPLACED:
        _add(models, "execution", began["running"], now[1], now)


def _add(models: ReadModels, measure: str, since: datetime, until: datetime, now: Now) -> None:
    seconds = (until - since).total_seconds()
    key = (measure, bucket_of(measure, seconds))
    so_far = models.durations.get(key) or DurationRow(0, 0.0)
    models.durations.put(key, DurationRow(so_far.count + 1, so_far.seconds + seconds), now)
