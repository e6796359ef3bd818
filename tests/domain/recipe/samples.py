"""Sample recipes and systems, with defaults for all fields."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from domain.contention.locks import NO_LOCKS
from domain.events import Moment
from domain.recipe.events import RecipeNew
from domain.recipe.lifecycle import STARTED
from domain.recipe.state import Recipe, Task, evolve
from domain.system.state import System


def recipe_new(number: int, priority: str = "Normal", **fields: Any) -> RecipeNew:
    """Return the first event of a recipe; its job, set and task have the same number."""
    plain = RecipeNew(
        job_id=number,
        recipe_set_id=number,
        owner="ada",
        group=None,
        priority=priority,
        whiteboard="",
        role=None,
        host_requires='{"element":"system_type","op":"==","value":"Machine"}',
        distro_requires="",
        distro_tree_id=1,
        autopick_random=False,
        autopick_pools=(),
        kernel_options="",
        kernel_options_post="",
        ks_meta="",
        tasks=({"task_id": number, "name": "/check", "role": None, "params": {}},),
    )
    return replace(plain, **fields)


def moment(version: int = 1, position: int = 5) -> Moment:
    return Moment(version, position, datetime(2024, 1, 1, tzinfo=UTC))


def recipe_in(state: str, *tasks: str) -> Recipe:
    """Return recipe 1 in a state, on system `a` if that state has one, with tasks 1, 2, ... in `tasks`."""
    new = evolve(None, 1, recipe_new(1), moment())
    made = tuple(Task(number, "/check", task) for number, task in enumerate(tasks, start=1))
    if state in ("new", "queued", "assigned"):
        return replace(new, state=state, tasks=made)
    held = NO_LOCKS if state in STARTED else None
    return replace(new, state=state, tasks=made, system="a", lab_controller="lab-1", version=9, held=held)


def system_in(usage: str, condition: str = "Automated") -> System:
    """Return system `a`, with recipe 1 if the usage needs a recipe."""
    recipe_id = None if usage in ("idle", "pending") else 1
    return System("a", 7, "lab-1", "ada", condition, {}, usage, recipe_id, since=3)
