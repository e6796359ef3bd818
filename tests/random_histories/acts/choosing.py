"""Subjects to choose from, as the audit folds them from the log, and calls of use cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from domain.errors import Refused
from domain.recipe.state import Recipe
from tests.in_process.api_process import UseCase
from tests.in_process.environment import Instance

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]
Act = Callable[[Instance, Draw], None]


def ask(scene: Instance, use_case: UseCase[Any]) -> None:
    """Run a use case; a conflict with the present state may be refused, any other error is a fault."""
    try:
        scene.api.ask(use_case)
    except Refused:
        return


def one(draw: Draw, among: Sequence[T]) -> T | None:
    return draw(st.sampled_from(among)) if among else None


def recipes(scene: Instance, finished: bool = False) -> Iterable[Recipe]:
    """Return the recipes, oldest first, including guests."""
    world = scene.watched.look()
    numbers = sorted({*world.recipes, *(world.finished if finished else ())})
    states = scene.api.services.aggregates.load(f"recipe/{number}" for number in numbers)
    return [state for state in states.values() if isinstance(state, Recipe)]


def unfinished_sets(scene: Instance) -> list[int]:
    return sorted({recipe.set_id for recipe in scene.watched.look().recipes.values()})


def systems(scene: Instance) -> list[str]:
    return list(scene.watched.look().systems)


def of_condition(scene: Instance, condition: str) -> list[str]:
    return [name for name, system in scene.watched.look().systems.items() if system.condition == condition]


def free(scene: Instance) -> list[str]:
    systems = scene.watched.look().systems
    return [name for name, system in systems.items() if system.usage in ("idle", "pending")]


def reserved(scene: Instance) -> list[str]:
    return [name for name, system in scene.watched.look().systems.items() if system.reserved]
