"""A small log with a queue, decided correctly or with a queue jump."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from domain.events import Recorded
from domain.recipe.events import RecipeScheduled
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

Log = Sequence[Recorded]


def busy() -> World:
    """Return a world with one system and three recipes that wanted it in turn; then the system comes free."""
    world = one_lab()
    world.add_idle("a")
    running = world.submit(ANYTHING.text)
    world.settle()
    for priority in ("Low", "Urgent", "Normal"):
        world.submit(ANYTHING.text, priority=priority)
        world.settle()
    world.complete(running)
    world.settle()
    return world


def scheduled(log: Log) -> list[int]:
    """Return the indexes of the events that gave a recipe a system."""
    return [index for index, row in enumerate(log) if isinstance(row.event, RecipeScheduled)]


def with_queue_jump(log: Log) -> list[Recorded]:
    """Return the log with the urgent recipe 3 passed over: recipe 4 gets the system last."""
    end = log[scheduled(log)[-1]].commit_end
    assert log[scheduled(log)[-1]].subject == "recipe/3"
    return [_of_recipe_4(row) if row.commit_end == end else row for row in log]


def _of_recipe_4(row: Recorded) -> Recorded:
    if row.subject == "recipe/3":
        return row._replace(subject="recipe/4")
    return row._replace(event=replace(row.event, recipe_id=4))  # type: ignore[type-var]
