"""A log of a given length: recipes that ran and ended, and then a queue while all systems are busy.

One process writes the log without HTTP, with the same code: the parser of jobs, the scheduler with a lease of
its own, and the decisions of the API on the reports of a lab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

import psycopg

from bench.cases.full_lab import configure, contended, generated_lab
from bench.cluster_fixture import BenchCluster
from bench.log_filler import ACTOR, LogFiller
from bench.outcome import ProgressCallback, Sizes
from bench.queues import paths
from bench.settling import wait_for_projectors
from domain.events import Change, Decided, Event, Stamp
from domain.partition_numbers import partition_of
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

SETS_PER_COMMIT = 200
DAYS = 30
# Events of a submitted and queued set with one recipe, and of a recipe that runs with its system.
EVENTS_OF_A_QUEUED = 3
EVENTS_OF_A_RUNNING = 11

Reports = Callable[[Recipe], Iterator[Report]]


def grow(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Fill the log with at least `sizes.events` events. Of the services, only the API runs."""
    filler, sets = _begin(cluster, sizes)
    with _scheduler(cluster) as scheduler:
        past = sizes.events - EVENTS_OF_A_QUEUED * sizes.queued - EVENTS_OF_A_RUNNING * sizes.systems
        while (end := cluster.log.end()) < past:
            on_progress("events", end, sizes.events)
            filler.submit(list(islice(sets, SETS_PER_COMMIT)))
            _run_once(cluster, scheduler)
        filler.queue(sets, sizes.queued + sizes.systems)
        _decide(scheduler)
        _report(cluster, scheduler, _beginning)
        _decide(scheduler)


class GrownPast(NamedTuple):
    """A past that ended with idle systems: the position before it, and the filler with its next sets."""

    begin: int
    filler: LogFiller
    sets: Iterator[dict[str, Any]]


def grow_past(
    cluster: BenchCluster, sizes: Sizes, event_count: int, on_progress: ProgressCallback
) -> GrownPast:
    """Run recipes until they have at least this number of events and all have ended. No service runs then."""
    filler, sets = _begin(cluster, sizes)
    with _scheduler(cluster) as scheduler:
        _decide(scheduler)
        begin = cluster.log.end()
        while (done := cluster.log.end() - begin) < event_count:
            on_progress("events", done, event_count)
            filler.submit(list(islice(sets, min(SETS_PER_COMMIT, sizes.systems))))
            _run_once(cluster, scheduler)
        while scheduler.partition.sets.recipes:
            _run_once(cluster, scheduler)
    cluster.stop("serve")
    return GrownPast(begin, filler, sets)


def _begin(cluster: BenchCluster, sizes: Sizes) -> tuple[LogFiller, Iterator[dict[str, Any]]]:
    """Start the API, and load a generated lab; return its filler and the sets to submit."""
    cluster.start("serve")
    lab = generated_lab(sizes)
    filler = LogFiller(cluster, queues=paths(sizes.queues))
    filler.lab(lab)
    configure(cluster, sizes)
    sets = generate_sets(generate_filters(lab, sizes.seed, sizes.filters), sizes.seed, (1,))
    return filler, contended(sets, lab, sizes)


@contextmanager
def _scheduler(cluster: BenchCluster) -> Iterator[Scheduler]:
    """Yield a scheduler of this process, which has the lease."""
    with ExitStack() as stack:
        url = cluster.database_url
        lease = lease_for(url, "bench", seconds=3600)
        stack.callback(lease.release)
        tailer = Tailer(url)
        stack.callback(tailer.close)
        yield Scheduler(cluster.log, tailer, lease, lambda: datetime.now(UTC))


def _run_once(cluster: BenchCluster, scheduler: Scheduler) -> None:
    """Start the waiting recipes that find a system, and complete all that run."""
    _decide(scheduler)
    _report(cluster, scheduler, _whole_life)
    _decide(scheduler)


def _decide(scheduler: Scheduler) -> None:
    scheduler.step(0.0)
    while scheduler.partition.triggers:
        scheduler.step(0.0)


def _report(cluster: BenchCluster, scheduler: Scheduler, reports: Reports) -> None:
    """Report on the started recipes; those that wait for their locks have nothing to report."""
    sets = scheduler.partition.sets
    placed = [recipe_id for recipe_id in sets.placed if sets.recipes[recipe_id].started]
    for first in range(0, len(placed), SETS_PER_COMMIT):
        _append(cluster, scheduler.partition, placed[first : first + SETS_PER_COMMIT], reports)


def _append(cluster: BenchCluster, partition: Partition, recipe_ids: Sequence[int], reports: Reports) -> None:
    decided: Decided = []
    expected: dict[str, int] = {}
    for recipe_id in recipe_ids:
        recipe = partition.sets.recipes[recipe_id]
        members = partition.members(recipe.recipe_set_id)
        expected[recipe.subject] = recipe.version
        expected |= {system.subject: system.version for system in members.systems.values()}
        decided += _events_of_reports(members, recipe, reports)
    stamp = Stamp(datetime.now(UTC), ACTOR, f"request/{new_command_id()}")
    changes = tuple(Change(subject, event, stamp) for subject, event in decided)
    (outcome,) = cluster.log.append(
        [AppendRequest(new_command_id(), changes, expected, partition=partition_of(expected))]
    )
    require_committed(outcome)


def _events_of_reports(members: Members, recipe: Recipe, reports: Reports) -> Iterator[tuple[str, Event]]:
    for message in reports(recipe):
        events = report(members, members.recipe(recipe.recipe_id), message)
        members = members_after(members, events)
        yield from events


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


def grow_over_days(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Grow the log, spread its times over DAYS, start all services and build the read models."""
    grow(cluster, sizes, on_progress)
    cluster.stop("serve")
    _spread_times(cluster)
    cluster.start("serve", "projector", "scheduler")
    wait_for_projectors(cluster)


def _spread_times(cluster: BenchCluster) -> None:
    """Spread the times of the past recipes over the last days, as the owner of the tables.

    The times ascend with the position, and are those of the ends of commits, as in a log that has grown. The
    queue and the recipes that run keep theirs, so that no watchdog expires.
    """
    with psycopg.connect(cluster.owner_url) as owner:
        row = owner.execute(_LAST_OF_PAST).fetchone()
        if row is not None:
            spread_times(owner, *row)


def spread_times(owner: psycopg.Connection[Any], end: int, ended_at: datetime) -> None:
    """Spread the times of the events up to position `end` over DAYS until `ended_at`, as the owner."""
    for statement in _SPREAD:
        owner.execute(statement, {"days": DAYS, "end": end, "ended_at": ended_at})


_LAST_OF_PAST = (
    b"SELECT commit_end, recorded_at FROM log.events WHERE topic = 'recipe.completed'"
    b" ORDER BY notification_id DESC LIMIT 1"
)
_AT = b"%(ended_at)s - (%(days)s * interval '1 day') * (1 - %(position)b::float8 / %(end)s)"
_SPREAD = (
    b"ALTER TABLE log.events DISABLE TRIGGER USER",
    b"ALTER TABLE log.commits DISABLE TRIGGER USER",
    b"UPDATE log.events SET recorded_at = "
    + _AT.replace(b"%(position)b", b"commit_end")
    + b" WHERE commit_end <= %(end)s",
    b"UPDATE log.commits SET recorded_at = "
    + _AT.replace(b"%(position)b", b"last_position")
    + b" WHERE last_position <= %(end)s",
    b"ALTER TABLE log.events ENABLE TRIGGER USER",
    b"ALTER TABLE log.commits ENABLE TRIGGER USER",
)
