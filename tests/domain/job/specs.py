"""Specifications of recipes and recipe sets, with empty values for most fields."""

from __future__ import annotations

from typing import Any

from domain.job.spec import RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority


def recipe(*tasks: str, guests: tuple[RecipeSpec, ...] = (), **fields: Any) -> RecipeSpec:
    """Return a recipe; a task is its name, with the parameter `P` after a blank."""
    specs = tuple(_task(*task.split()) for task in tasks or ("/plain",))
    return RecipeSpec("", None, "", "", "", "{}", "", False, (), specs, guests=guests, **fields)


def _task(name: str, param: str | None = None) -> TaskSpec:
    return TaskSpec(name, None, (("P", param),) if param else ())


def of(*recipes: RecipeSpec, **fields: Any) -> RecipeSetSpec:
    return RecipeSetSpec(Priority.Normal, recipes, **fields)
