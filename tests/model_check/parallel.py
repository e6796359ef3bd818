"""Exploration of cases in several processes, optionally without one part of the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.model_check.explore import Exploration, explore, story
from tests.model_check.families import Task
from tests.model_check.removed_parts import ALL_PARTS
from tests.model_check.walk import walk

AT_ONCE = 4


def explore_one(task: Task, without: str | None = None) -> tuple[Exploration, str | None]:
    """Return the exploration of one case, and the history of its violation, if any."""
    with _removal(without):
        found = explore(*task, rules=_rules(without))
    return _without_world(found)


def walk_one(seed: int, without: str | None = None) -> tuple[Exploration, str | None]:
    with _removal(without):
        found = walk(seed, _rules(without))
    return _without_world(found)


def _without_world(found: Exploration) -> tuple[Exploration, str | None]:
    text = None if found.violation is None else story(found.violation)
    # Worlds are large, and the parent process does not need them.
    found.violation = None
    return found, text


def _removal(without: str | None) -> ExitStack:
    stack = ExitStack()
    if without is not None:
        stack.enter_context(ALL_PARTS[without].removal())
    return stack


def _rules(without: str | None) -> tuple[TriggerRule, ...]:
    return TRIGGER_RULES if without is None else ALL_PARTS[without].rules


def run_parallel(
    one: Callable[..., tuple[Exploration, str | None]],
    tasks: Iterable[Task] | Iterable[int],
    processes: int,
    without: str | None = None,
) -> Iterator[tuple[Exploration, str | None]]:
    """Yield the results in the order of the tasks."""
    if processes == 1:
        yield from (one(task, without) for task in tasks)
        return
    given = list(tasks)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield from pool.map(one, given, [without] * len(given), chunksize=AT_ONCE)
