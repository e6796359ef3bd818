"""A log of a given length: the past of a lab, recipes that were submitted, had a system, and ended; and last
what is there now, a queue in front of systems that are all at work.

Made in one process, without HTTP, but by the same decisions: the jobs are read at the door, the scheduler is
the real one with a lease of its own, and what a lab would report is decided as the API decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice

from bench.cases.full_lab import made_up
from bench.cluster_fixture import Stand
from bench.filling import ACTOR, Filling
from bench.outcome import Sizes
from bench.progress import Told
from domain.events import Change, Decided, Event, Stamp
from domain.read_set import members_after
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
from domain.scheduling.world.partition import Partition
from replay.workload.generated_queue import generate_filters, generate_sets
from store.requests import AppendRequest, new_command_id, require_committed
from store.tailer import Tailer
from workers.scheduler import Scheduler, lease_for

SETS_AT_ONCE = 200
# Submitted and queued: the set and its recipe. Given a system and running on it: what both of them did.
EVENTS_OF_A_QUEUED = 3
EVENTS_OF_A_RUNNING = 11

Reports = Callable[[Recipe], Iterator[Report]]


def grow(stand: Stand, sizes: Sizes, told: Told) -> None:
    """Let a lab work until the log has as many events as wanted, at least. Only the API runs then."""
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
        past = sizes.events - EVENTS_OF_A_QUEUED * sizes.queued - EVENTS_OF_A_RUNNING * sizes.systems
        while (end := stand.log.end()) < past:
            told("events", end, sizes.events)
            filling.submit(list(islice(sets, SETS_AT_ONCE)))
            _decide(scheduler)
            _report(stand, scheduler, _whole_life)
            _decide(scheduler)
        filling.queue(sets, sizes.queued + sizes.systems)
        _decide(scheduler)
        _report(stand, scheduler, _beginning)
        _decide(scheduler)


def _decide(scheduler: Scheduler) -> None:
    """Until nothing is left to decide."""
    scheduler.step(0.0)
    while scheduler.partition.triggers:
        scheduler.step(0.0)


def _report(stand: Stand, scheduler: Scheduler, reports: Reports) -> None:
    """What is waiting to be installed gets so far."""
    placed = list(scheduler.partition.sets.placed)
    for first in range(0, len(placed), SETS_AT_ONCE):
        _append(stand, scheduler.partition, placed[first : first + SETS_AT_ONCE], reports)


def _append(stand: Stand, partition: Partition, recipe_ids: Sequence[int], reports: Reports) -> None:
    decided: Decided = []
    expected: dict[str, int] = {}
    for recipe_id in recipe_ids:
        recipe = partition.sets.recipes[recipe_id]
        members = partition.members(recipe.recipe_set_id)
        expected[recipe.subject] = recipe.version
        expected |= {system.subject: system.version for system in members.systems.values()}
        decided += _follows(members, recipe, reports)
    stamp = Stamp(datetime.now(UTC), ACTOR, f"request/{new_command_id()}")
    changes = tuple(Change(subject, event, stamp) for subject, event in decided)
    (outcome,) = stand.log.append([AppendRequest(new_command_id(), changes, expected)])
    require_committed(outcome)


def _follows(members: Members, recipe: Recipe, reports: Reports) -> Iterator[tuple[str, Event]]:
    for message in reports(recipe):
        follows = report(members, members.recipe(recipe.recipe_id), message)
        members = members_after(members, follows)
        yield from follows


def _beginning(recipe: Recipe) -> Iterator[Report]:
    yield ReportInstalling()
    yield ReportTaskRunning(recipe.tasks[0].task_id)


def _whole_life(recipe: Recipe) -> Iterator[Report]:
    yield ReportInstalling()
    for task in recipe.tasks:
        yield ReportTaskRunning(task.task_id)
        yield ReportTaskResult(task.task_id, "Pass")
        yield ReportTaskEnded(task.task_id, "completed")
    yield ReportCompleted()
