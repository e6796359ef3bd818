"""A log of a given length, and in it the past of a lab: recipes that were submitted, had a system, and ended.

Made in one process, without HTTP, but by the same decisions: the jobs are read at the door, the scheduler is
the real one with a lease of its own, and what a lab would report is decided as the API decides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice

from api.bench.cases.full_lab import made_up
from api.bench.filling import ACTOR, Filling
from api.bench.outcome import Sizes
from api.bench.stand import Stand
from api.bench.told import Told
from api.store.requests import Append, committed, new_command_id
from api.store.tailer import Tailer
from api.workers.scheduler import Scheduler, lease_for
from domain.events import Change, Decided, Event, Stamp
from domain.gathered import members_after
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members
from domain.recipe_set.messages import (
    Report,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskResult,
    ReportTaskRunning,
)
from domain.recipe_set.reports import report
from replay.generated_queue import generate_filters, generate_sets

SETS_AT_ONCE = 200


def grow(stand: Stand, sizes: Sizes, told: Told) -> None:
    """Let a lab work until the log has as many events as wanted. Only the API runs then."""
    stand.start("serve")
    lab = made_up(sizes)
    filling = Filling(stand)
    filling.lab(lab)
    sets = generate_sets(generate_filters(lab, sizes.seed, sizes.filters), sizes.seed, (1,))
    with ExitStack() as stack:
        url = stand.database_url
        lease = lease_for(url, "bench", seconds=3600)
        stack.callback(lease.release)
        tailer = Tailer(url)
        stack.callback(tailer.close)
        scheduler = Scheduler(stand.log, tailer, lease, lambda: datetime.now(UTC))
        while (end := stand.log.end()) < sizes.events:
            told("events", end, sizes.events)
            filling.submit(list(islice(sets, SETS_AT_ONCE)))
            _decide(scheduler)
            _run(stand, scheduler)
            _decide(scheduler)


def _decide(scheduler: Scheduler) -> None:
    """Until nothing is left to decide."""
    scheduler.step(0.0)
    while scheduler.partition.triggers.first() is not None:
        scheduler.step(0.0)


def _run(stand: Stand, scheduler: Scheduler) -> None:
    """What is waiting to be installed runs, and is completed."""
    partition = scheduler.partition
    decided: Decided = []
    expected: dict[str, int] = {}
    for recipe_id in partition.sets.placed:
        recipe = partition.sets.recipes[recipe_id]
        members = partition.members(recipe.recipe_set_id)
        expected[recipe.subject] = recipe.version
        expected |= {system.subject: system.version for system in members.systems.values()}
        decided += _life(members, recipe)
    if decided:
        stamp = Stamp(datetime.now(UTC), ACTOR, f"request/{new_command_id()}")
        changes = tuple(Change(subject, event, stamp) for subject, event in decided)
        (outcome,) = stand.log.append([Append(new_command_id(), changes, expected)])
        committed(outcome)


def _life(members: Members, recipe: Recipe) -> Iterator[tuple[str, Event]]:
    for message in _reports(recipe):
        follows = report(members, members.recipe(recipe.recipe_id), message)
        members = members_after(members, follows)
        yield from follows


def _reports(recipe: Recipe) -> Iterator[Report]:
    yield ReportInstalling()
    for task in recipe.tasks:
        yield ReportTaskRunning(task.task_id)
        yield ReportTaskResult(task.task_id, "Pass")
        yield ReportTaskEnded(task.task_id, "completed")
    yield ReportCompleted()
