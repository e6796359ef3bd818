"""Estimates of the time until recipes start, in reads (docs/decisions/0040)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from api.durations import duration
from api.rest import paging
from api.rest.cached_waits import CachedWaits, SearchedKind
from api.rest.ports import ReadParts
from domain.estimates.estimate import MIN_RECIPES, Wait
from domain.estimates.kinds import LADDER, RecipeKind, WaitProperties
from projections.reader import At

Steps = tuple[tuple[RecipeKind, ...], ...]
"""Kinds whose waits are queried together, unless a kind before them has enough recipes."""

MAX_KINDS: Final = 400
"""The number of kinds in one query above which only wider ones are compared."""

# Of a long queue, wide kinds take up to 100 ms, narrow ones 2 ms.
RECIPE_STEPS: Final = (LADDER[:2], LADDER[2:4], LADDER[4:])
# Most recipes of a queue have the same wide kinds, so that fewer round trips count for more.
QUEUE_STEPS: Final = (LADDER[:2], LADDER[2:])


class ComparedRecipe(NamedTuple):
    """A recipe for an estimate: its partition by number, and its wait so far."""

    partition: int
    priority: int
    properties: WaitProperties
    wait: Wait


class NewRecipe(NamedTuple):
    """A recipe that is not submitted yet, with its partition by number."""

    partition: int
    priority: int
    properties: WaitProperties


async def estimates_of(
    parts: ReadParts, cached: CachedWaits, recipes: Sequence[ComparedRecipe], steps: Steps = RECIPE_STEPS
) -> list[dict[str, Any]]:
    """Return the estimate for each recipe, from the narrowest kind with enough comparable recipes."""
    found: dict[int, dict[str, Any]] = {}
    for kinds in steps:
        remaining = [each for each in enumerate(recipes) if each[0] not in found]
        searched = {_searched(kind, recipe): None for _, recipe in remaining for kind in kinds}
        if len(searched) > MAX_KINDS and kinds is not steps[-1]:
            continue
        await cached.query(parts.reader, searched)
        for number, recipe in remaining:
            for kind in kinds:
                waits = cached[_searched(kind, recipe)]
                if waits.recipes(recipe.wait) >= MIN_RECIPES or kind is LADDER[-1]:
                    estimate = waits.estimate(recipe.wait)
                    found[number] = {**estimate, "summary": _summary(estimate)}
                    break
    return [found[number] for number in range(len(recipes))]


def _searched(kind: RecipeKind, recipe: ComparedRecipe) -> SearchedKind:
    requirement, arch = recipe.properties
    return SearchedKind(
        kind,
        recipe.partition,
        requirement if kind.same_requirement else None,
        arch if kind.same_arch else None,
        recipe.priority if kind.same_priority else None,
    )


async def estimates_of_new(parts: ReadParts, at: At, recipes: Sequence[NewRecipe]) -> list[dict[str, Any]]:
    """Return the estimates for recipes that are not submitted yet, with the position of the waits."""
    params = {
        "at": at.position,
        "partitions": [recipe.partition for recipe in recipes],
        "arches": [recipe.properties.arch for recipe in recipes],
        "priorities": [recipe.priority for recipe in recipes],
    }
    rows = await parts.reader.rows("waiting_ahead", params)
    compared = [
        ComparedRecipe(*each, Wait(0.0, row["ahead"])) for each, row in zip(recipes, rows, strict=True)
    ]
    cached = CachedWaits(at.position, paging.moment_of(at, parts))
    return [{**found, "position": at.position} for found in await estimates_of(parts, cached, compared)]


async def estimates_of_waiting(
    parts: ReadParts, at: At, cached: CachedWaits, rows: Sequence[dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Return recipe id -> estimate for these rows of waits, with the position of the compared waits."""
    now = paging.moment_of(at, parts)
    found = await estimates_of(parts, cached, [compared_recipe(row, now) for row in rows], QUEUE_STEPS)
    return {
        row["recipe_id"]: {**estimate, "position": cached.position}
        for row, estimate in zip(rows, found, strict=True)
    }


def compared_recipe(row: dict[str, Any], now: datetime) -> ComparedRecipe:
    """Return a recipe by a row with its wait."""
    wait = Wait(max((now - row["began"]).total_seconds(), 0.0), row["ahead"])
    properties = WaitProperties(row["requirement"], row["arch"])
    return ComparedRecipe(row["partition"], row["priority"], properties, wait)


def _summary(found: dict[str, Any]) -> str:
    p50, p90, longest = found["p50_seconds"], found["p90_seconds"], found["more_than_seconds"]
    if not found["basis"]["recipes"]:
        return "there is no recipe to compare this one with"
    # The longest wait for one place, times the places: at a later place nobody may have waited so long yet.
    ahead = found["ahead"]
    with_ahead, wait = (f"with {ahead} ahead in the queue, ", "would wait") if ahead else ("", "wait")
    if p50 is None:
        return (
            f"{with_ahead}more than half of comparable recipes {wait} more than {duration(longest)} from now"
        )
    half = f"half of comparable recipes start {_within(p50)}"
    if p90 is not None:
        return f"{half}, and nine of ten {_within(p90)}"
    if longest < 1:
        return f"{half}; the others have not waited long enough to say more"
    if ahead:
        return f"{half}; {with_ahead}more than one of ten {wait} more than {duration(longest)} from now"
    return f"{half}, and more than one of ten waits more than {duration(longest)}"


def _within(seconds: float) -> str:
    return f"within {duration(seconds)} from now" if seconds >= 1 else "at once"
