"""Cases spread over processes; each of them takes out the same part, if any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

from domain.scheduling.world.wake_ups import TRIGGER_RULES, TriggerRule
from tests.model_check.explore import Found, explore, story
from tests.model_check.families import Task
from tests.model_check.removed_parts import ALL_PARTS
from tests.model_check.walk import walk

AT_ONCE = 4


def explore_one(task: Task, without: str | None = None) -> tuple[Found, str | None]:
    """What is found in one case, and the story of the violation, if there is one."""
    with _taking(without):
        found = explore(*task, rules=_rules(without))
    return _told(found)


def walk_one(seed: int, without: str | None = None) -> tuple[Found, str | None]:
    with _taking(without):
        found = walk(seed, _rules(without))
    return _told(found)


def _told(found: Found) -> tuple[Found, str | None]:
    told = None if found.violation is None else story(found.violation)
    # What has happened stays in this process: worlds are large, and nobody asks for them.
    found.violation = None
    return found, told


def _taking(without: str | None) -> ExitStack:
    stack = ExitStack()
    if without is not None:
        stack.enter_context(ALL_PARTS[without].taking())
    return stack


def _rules(without: str | None) -> tuple[TriggerRule, ...]:
    return TRIGGER_RULES if without is None else ALL_PARTS[without].rules


def spread(
    one: Callable[..., tuple[Found, str | None]],
    tasks: Iterable[Task] | Iterable[int],
    processes: int,
    without: str | None = None,
) -> Iterator[tuple[Found, str | None]]:
    """As they are done, in order."""
    if processes == 1:
        yield from (one(task, without) for task in tasks)
        return
    given = list(tasks)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield from pool.map(one, given, [without] * len(given), chunksize=AT_ONCE)
