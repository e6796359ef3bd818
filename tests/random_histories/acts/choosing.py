"""Who there is to choose from, as the audit reads it from the log; and how a use case is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from domain.errors import Refused
from domain.recipe.state import Recipe
from tests.in_process.api_process import UseCase
from tests.in_process.environment import Scene

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]
Act = Callable[[Scene, Draw], None]


def ask(scene: Scene, use_case: UseCase[Any]) -> None:
    """What conflicts with what is true now is refused, and that is all that may go wrong."""
    try:
        scene.api.ask(use_case)
    except Refused:
        return


def one(draw: Draw, among: Sequence[T]) -> T | None:
    return draw(st.sampled_from(among)) if among else None


def recipes(scene: Scene, finished: bool = False) -> Iterable[Recipe]:
    """Oldest first, guests too."""
    world = scene.watched.look()
    numbers = sorted({*world.recipes, *(world.finished if finished else ())})
    states = scene.api.services.aggregates.load(f"recipe/{number}" for number in numbers)
    return [state for state in states.values() if isinstance(state, Recipe)]


def unfinished_sets(scene: Scene) -> list[int]:
    return sorted({recipe.set_id for recipe in scene.watched.look().recipes.values()})


def systems(scene: Scene) -> list[str]:
    return list(scene.watched.look().systems)


def of_condition(scene: Scene, condition: str) -> list[str]:
    return [name for name, system in scene.watched.look().systems.items() if system.condition == condition]


def free(scene: Scene) -> list[str]:
    systems = scene.watched.look().systems
    return [name for name, system in systems.items() if system.usage in ("idle", "pending")]


def reserved(scene: Scene) -> list[str]:
    return [name for name, system in scene.watched.look().systems.items() if system.reserved]
