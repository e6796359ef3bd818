"""Estimates of recipes that have started since, judged by their waits (docs/decisions/0040)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from api.metrics.slow_metrics import LATER, NO_ESTIMATE, WITHIN_P90
from api.rest import partitions
from api.rest.cached_waits import CachedWaits, arches_of_waits
from api.rest.estimates import compared_recipe, estimates_of
from api.rest.ports import ReadParts
from projections.read_sessions import Row
from projections.reader import At

MAX_JUDGED: Final = 10
"""The maximum number of recipes in a sample, because each takes up to three queries."""
# A sample is taken from this number of last starts of each partition, architecture and priority.
_NEWEST: Final = 1_000


async def judged_estimates(parts: ReadParts, after: int, upto: int) -> Counter[str]:
    """Return the outcomes of a sample of the recipes that started between two positions.

    Each wait is compared with the estimate as of its beginning, from the waits up to then.
    """
    numbers = await partitions.numbers_at(parts, At(upto))
    params = {
        "partitions": numbers,
        "after": after,
        "at": upto,
        "newest": _NEWEST,
        "sample": MAX_JUDGED,
        "arches": await arches_of_waits(parts.reader, numbers),
    }
    # In sequence: no request waits for these queries, and pages need the sessions.
    return Counter([await _outcome(parts, row) for row in await parts.reader.rows("sampled_starts", params)])


async def _outcome(parts: ReadParts, row: Row) -> str:
    waits = CachedWaits(row["since_position"], row["began"], row["recipe_id"])
    (estimate,) = await estimates_of(parts, waits, [compared_recipe(row, row["began"])])
    p90_seconds = estimate["p90_seconds"]
    if p90_seconds is None:
        return NO_ESTIMATE
    return WITHIN_P90 if row["seconds"] <= p90_seconds else LATER
