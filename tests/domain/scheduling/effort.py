"""Labs of two sizes that differ in nothing else, and what a trigger costs in them.

Cost is counted, never timed: by the partition's own `Effort`, and by the lines of `domain/` that Python runs,
which also sees work that forgets to count itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import domain
from domain.scheduling.filters import Effort
from tests.domain.scheduling.wants import at_least
from tests.domain.scheduling.world import World

DOMAIN = str(Path(domain.__file__).parent)
# Every system is viable for every filter, which is the dearest case.
FILTERS = tuple(at_least(megabytes).text for megabytes in range(8))
TRIGGERS = 40


@dataclass(frozen=True)
class Cost:
    """Of one trigger, on average."""

    evaluations: float
    rows: float
    lines: float


def lab_of(systems: int, busy: bool, queued: int = 0) -> World:
    """All systems idle, or all busy with so many recipes queued; every filter has been asked for."""
    world = World()
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    for number in range(systems):
        world.add_system(f"m{number:05}", memory_mb=4096)
    world.settle()
    if busy:
        submit(world, systems)
        submit(world, queued)
    else:
        submit(world, len(FILTERS))
        for recipe in world.placed():
            world.abort(recipe.recipe_id)
        world.settle()
    return world


def submit(world: World, count: int) -> None:
    for number in range(count):
        world.submit(FILTERS[number % len(FILTERS)])
    world.settle()


def new_job(world: World) -> None:
    submit(world, 1)


def system_freed(world: World) -> None:
    world.abort(world.placed()[0].recipe_id)
    world.settle()


def cost_of(trigger: Callable[[World], None], world: World) -> Cost:
    """Reading the log, deciding, taking back and reading the decision, for each of a row of triggers."""
    effort = world.partition.effort = world.partition.filters._effort = Effort()
    lines = _Lines()
    for _ in range(TRIGGERS):
        lines.count(lambda: trigger(world))
    return Cost(effort.evaluations / TRIGGERS, effort.rows / TRIGGERS, lines.seen / TRIGGERS)


class _Lines:
    """Counts the lines that run in `domain/`, those of loops and comprehensions each time round."""

    def __init__(self) -> None:
        self.seen = 0

    def count(self, act: Callable[[], None]) -> None:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            act()
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(DOMAIN) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.seen += event == "line"
        return self._line
