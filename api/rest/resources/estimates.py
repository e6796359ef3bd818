"""/recipes/{id}/estimate, and estimates for recipes that are not submitted yet"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from falcon.asgi import Request, Response

from api.durations import duration
from api.rest import paging
from api.rest.contract import queries
from api.rest.contract.answers import waits as answers
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.views import View, read_view
from domain.errors import Unknown, display_name
from domain.estimates.estimate import (
    MIN_RECIPES,
    ObservedWaits,
    Wait,
    comparable_recipes,
    estimate,
)
from domain.estimates.kinds import LADDER, RecipeKind, WaitProperties
from domain.priority import Priority
from domain.recipe.lifecycle import FINISHED

MAX_ENDED_WAITS: Final = 2_000
"""The maximum number of ended waits that an estimate compares: the last ones."""
# The kinds whose waits are asked for at once: narrow ones take little time.
_ASKED_TOGETHER: Final = (LADDER[:2], LADDER[2:4], LADDER[4:])
_NO_ESTIMATE: Final = dict.fromkeys(
    ("waited_seconds", "ahead", "p50_seconds", "p90_seconds", "more_than_seconds", "basis")
)


class ComparedRecipe(NamedTuple):
    """A recipe for an estimate: its partition by number, and its wait so far. A new one has no id."""

    partition: int
    priority: int
    properties: WaitProperties
    wait: Wait
    recipe_id: int | None = None


class Estimates:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Estimate when a waiting recipe starts", answers.Estimate, queries.ReadQuery)
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await read_view(req, self._parts)
        paging.answer_read(resp, view.at, await estimate_of_recipe(self._parts, view, recipe_id))


async def estimate_of_recipe(parts: ReadParts, view: View, recipe_id: int) -> dict[str, Any]:
    """Return the estimate for a recipe, a guest's being that of its host. Raises Unknown."""
    row = await parts.reader.row("wait_of_recipe", {"at": view.position, "recipe_id": recipe_id})
    if row is None:
        raise Unknown(display_name("recipe", recipe_id))
    answer = {"recipe_id": recipe_id, "state": row["state"]}
    if row["began"] is None:
        return {**answer, **_NO_ESTIMATE, "summary": _without_wait(row)}
    seconds = (paging.moment_of(view.at, parts) - row["began"]).total_seconds()
    properties = WaitProperties(row["requirement"], row["arch"])
    wait = Wait(max(seconds, 0.0), row["ahead"])
    recipe = ComparedRecipe(row["partition"], row["priority"], properties, wait, row["recipe_id"])
    return {**answer, **await estimate_of(parts, view, recipe)}


def _without_wait(row: dict[str, Any]) -> str:
    if row["state"] in FINISHED:
        return f"the recipe is {row['state']}"
    if row["state"] in ("new", "queued", "assigned", "scheduled") or row["awaits_locks"]:
        return "the recipe waits since before waits were recorded: only `labledger replay rebuild` adds them"
    return "the recipe has started"


async def new_recipe(
    parts: ReadParts, view: View, partition: int, priority: Priority, properties: WaitProperties
) -> ComparedRecipe:
    """Return a recipe that is not submitted yet, with the number of recipes that are ahead of it."""
    params = {"at": view.position, "partition": partition, "arch": properties.arch}
    row = await parts.reader.row("waiting_ahead", {**params, "priorities": _at_least(priority)})
    assert row is not None
    return ComparedRecipe(partition, priority, properties, Wait(0.0, row["ahead"]))


async def estimate_of(parts: ReadParts, view: View, recipe: ComparedRecipe) -> dict[str, Any]:
    """Return the estimate for a recipe, from the narrowest kind with enough comparable recipes."""
    arches = await arches_of_waits(parts, [recipe.partition])
    for kinds in _ASKED_TOGETHER:
        asked = [("comparable_waits", _params(parts, view, kind, recipe, arches)) for kind in kinds]
        for kind, rows in zip(kinds, await parts.reader.together(*asked), strict=True):
            waits = [ObservedWaits(**row) for row in rows]
            if comparable_recipes(waits, recipe.wait) >= MIN_RECIPES or kind is LADDER[-1]:
                found = estimate(kind, waits, recipe.wait)
                return {**found, "summary": _summary(found)}
    raise AssertionError("the widest kind always gives an estimate")


def _params(
    parts: ReadParts, view: View, kind: RecipeKind, recipe: ComparedRecipe, all_arches: list[str]
) -> dict[str, Any]:
    """Return the parameters of the query for the waits of a kind."""
    arches = [recipe.properties.arch] if kind.same_arch else all_arches
    return {
        "at": view.position,
        "moment": paging.moment_of(view.at, parts),
        "partition": recipe.partition,
        "requirements": [recipe.properties.requirement] if kind.same_requirement else [],
        "arches": [] if kind.same_requirement else arches,
        "priorities": [recipe.priority] if kind.same_priority else _at_least(min(Priority)),
        "recipe_id": recipe.recipe_id,
        "limit": MAX_ENDED_WAITS,
    }


async def arches_of_waits(parts: ReadParts, partitions: list[int]) -> list[str]:
    rows = await parts.reader.rows("arches_of_waits", {"partitions": partitions})
    return [row["arch"] for row in rows]


def _at_least(priority: Priority) -> list[int]:
    return [int(each) for each in Priority if each >= priority]


def _summary(found: dict[str, Any]) -> str:
    p50, p90, longest = found["p50_seconds"], found["p90_seconds"], found["more_than_seconds"]
    if not found["basis"]["recipes"]:
        return "there is no recipe to compare this one with"
    if p50 is None:
        return f"more than half of comparable recipes wait more than {duration(longest)} from now"
    half = f"half of comparable recipes start within {duration(p50)} from now"
    if p90 is None:
        return f"{half}, and more than one of ten waits more than {duration(longest)}"
    return f"{half}, and nine of ten within {duration(p90)}"
