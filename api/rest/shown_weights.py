"""Weights of waiting recipes and sets in reads.

The weight of a set that declares no locks follows from its age alone. The explaining process of its partition
weighs each other set, because only the state of the scheduler has the locks of placed recipes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from api.rest import paging
from api.rest.explainer_answers import ask
from api.rest.ports import ExplainParts
from api.rest.waiting_sets import WaitingSets
from domain.contention.weights import WeightSettings, ticks
from domain.directory.partitions import configuration_of
from domain.scheduling.explaining.shown_weights import SetWeight, weight_without_locks
from projections.reader import At

Row = Mapping[str, Any]

NO_WEIGHT: Final = dict.fromkeys(SetWeight.__annotations__)
"""The fields of a weight, without values."""


async def weights_of(
    parts: ExplainParts, at: At, sets: Iterable[WaitingSets], rows: Sequence[Row]
) -> list[float | None]:
    """Return the weights of waiting recipes: rows with `recipe_id`, `recipe_set_id` and `submitted_at`.

    A weight is None if weights are off, if the recipe does not wait any more, or if the explaining process
    has not read the log in time. The `sets` are those of the recipes.
    """
    of_sets = defaultdict[int, list[Row]](list)
    for row in rows:
        of_sets[row["recipe_set_id"]].append(row)
    found = await asyncio.gather(
        *(
            _weights_in(parts, at, each, [row for number in each.set_ids for row in of_sets[number]])
            for each in sets
        )
    )
    weights = {number: weight for of_partition in found for number, weight in of_partition.items()}
    return [weights.get(row["recipe_id"]) for row in rows]


async def _weights_in(
    parts: ExplainParts, at: At, sets: WaitingSets, rows: Sequence[Row]
) -> dict[int, float | None]:
    """Return the weights of waiting recipes of one partition by number."""
    now, settings = paging.moment_of(at, parts), _settings(sets)
    if not settings.is_enabled:
        return {}
    asked = [row["recipe_id"] for row in rows if row["recipe_set_id"] in sets.declaring]
    answer = await ask(parts, sets.identity, "weights", at, now=now, recipe_ids=asked) if asked else {}
    weights: dict[int, float | None] = dict(zip(asked, answer.get("weights", ()), strict=False))
    ages: dict[int, float] = {}
    for row in rows:
        if row["recipe_set_id"] not in sets.declaring:
            age = ticks(row["submitted_at"], now, settings.tick_milliseconds)
            if age not in ages:
                ages[age] = weight_without_locks(settings, age).weight
            weights[row["recipe_id"]] = ages[age]
    return weights


async def weight_of_set(
    parts: ExplainParts, at: At, sets: WaitingSets, submitted_at: datetime
) -> dict[str, Any]:
    """Return the fields of the weight of a set that waits for systems; each is None as in `weights_of`."""
    now, settings = paging.moment_of(at, parts), _settings(sets)
    (recipe_set_id,) = sets.set_ids
    if not settings.is_enabled:
        return NO_WEIGHT
    if not sets.declaring:
        age = ticks(submitted_at, now, settings.tick_milliseconds)
        return asdict(weight_without_locks(settings, age))
    answer = await ask(parts, sets.identity, "set_weight", at, now=now, recipe_set_id=recipe_set_id)
    return answer.get("weight") or NO_WEIGHT


def _settings(sets: WaitingSets) -> WeightSettings:
    """Return the settings in force."""
    return configuration_of(sets.document).weights
