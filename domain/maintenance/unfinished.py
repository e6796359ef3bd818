"""The recipes, reservations and loans that will not have ended when a maintenance window starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from domain.recipe.state import Recipe
from domain.recipe.watchdog import latest_end


@dataclass(frozen=True)
class Unfinished:
    """The unfinished recipes, reservations and loans.

    `until` is null for a reservation or loan without an end.
    """

    recipes: list[dict[str, Any]] = field(default_factory=list)
    reservations: list[dict[str, Any]] = field(default_factory=list)
    loans: list[dict[str, Any]] = field(default_factory=list)


def unfinished(
    systems: Iterable[Mapping[str, Any]],
    recipes: Mapping[int, Recipe],
    starts_at: datetime,
    now: datetime,
) -> Unfinished:
    """Return the recipes, reservations and loans that end after `starts_at`.

    Each of `systems` has `fqdn`, `recipe_id`, `user`, `reserved_until`, `loaned_to` and `loaned_until`.
    `recipes` are those that have these systems.
    """
    found = Unfinished()
    for system in systems:
        fqdn, recipe = system["fqdn"], recipes.get(system["recipe_id"] or 0)
        if recipe is not None and not recipe.finished and latest_end(recipe, now) > starts_at:
            found.recipes.append(_recipe(fqdn, recipe, latest_end(recipe, now)))
        for rows, user, until in (
            (found.reservations, system["user"], system["reserved_until"]),
            (found.loans, system["loaned_to"], system["loaned_until"]),
        ):
            if user is not None and (until is None or until > starts_at):
                rows.append({"system": fqdn, "user": user, "until": until})
    return found


def _recipe(fqdn: str, recipe: Recipe, end: datetime) -> dict[str, Any]:
    return {
        "system": fqdn,
        "recipe_id": recipe.recipe_id,
        "job_id": recipe.job_id,
        "owner": recipe.owner,
        "state": recipe.state,
        "latest_end": end,
    }
