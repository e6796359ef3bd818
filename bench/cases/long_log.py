"""Appends, grants, reads of the past, vacuum and the start of a scheduler, on a short and on a long log.

Both logs have the same lab and queue, and end with the same number of decided events. The past before them is
copied (`bench/copied_past.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Final, NamedTuple

import psycopg

from bench.cases.pending import TooSmall
from bench.cases.start import started, stop_with_snapshot
from bench.cluster_fixture import BenchCluster, bench_cluster
from bench.completions import grant_times
from bench.measurements import SQL, in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle, wait_for_projectors
from domain.directory.events import PoolRegistered
from domain.events import Change, Stamp
from domain.partition_numbers import EVERYBODY
from store.requests import AppendRequest, new_command_id, require_committed

# Number of events of the log with which the long one is compared.
SHORT_EVENTS: Final = 1_000_000
APPENDS: Final = 300
EVENTS_OF_A_LARGE_APPEND: Final = 500
LARGE_APPENDS: Final = 40
# Minimum number of reads of each path.
MIN_READS: Final = 20
# Number of systems that come free before the scheduler starts. Some recipe in the queue fits one of them.
FREED_BEFORE_START: Final = 20
# Names of figures that are compared.
COMPARED: Final = (
    "append_p50_ms",
    "append_p99_ms",
    "large_append_p50_ms",
    "pending_p50_ms",
    "pending_p99_ms",
    "as_of_p50_ms",
    "as_of_p99_ms",
    "vacuum_seconds",
    "from_snapshot_seconds",
)


GrowPast = Callable[[BenchCluster, Sizes, ProgressCallback], Callable[[int], object]]
"""Fills the log with a past, and returns a function that queues a number of recipes."""


class LogOutcome(NamedTuple):
    """The figures of a log, its number of events, and the bytes of each table with its indexes."""

    figures: dict[str, float]
    events: int
    sizes: dict[str, int]


def require_enough(sizes: Sizes) -> None:
    """Raise TooSmall unless more recipes can run and wait than are to end."""
    wanted = int(sizes.rate * sizes.seconds) + FREED_BEFORE_START
    if min(sizes.systems, sizes.queued) < wanted:
        raise TooSmall(
            f"long_log: {wanted} recipes are to end: --systems and --queued have to be at least as many,"
            " or --rate or --seconds lower"
        )


def measure(grow: GrowPast, cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure a log of `sizes.events`, which `grow` fills, and before a longer one that of SHORT_EVENTS."""
    if sizes.events <= SHORT_EVENTS:
        short = _measure(grow, cluster, sizes, on_progress)
        return {**short.figures, **_bytes_per_event(short.sizes, short.events)}
    with bench_cluster() as shorter:
        short = _measure(grow, shorter, replace(sizes, events=SHORT_EVENTS), on_progress)
    long = _measure(grow, cluster, sizes, on_progress)
    growth = {table: size - short.sizes.get(table, 0) for table, size in long.sizes.items()}
    return {
        **{f"short_{name}": value for name, value in short.figures.items()},
        **long.figures,
        **{f"{name}_times": round(long.figures[name] / short.figures[name], 2) for name in COMPARED},
        **_bytes_per_event(growth, long.events - short.events),
    }


def _bytes_per_event(sizes: dict[str, int], events: int) -> dict[str, float]:
    """Return the bytes of each table per event (MB per million events), and their sum."""
    each = {f"{table}_bytes_per_event": round(size / events, 1) for table, size in sizes.items()}
    total = round(sum(sizes.values()) / events, 1)
    return {"bytes_per_event": total, **{name: size for name, size in each.items() if size >= 1}}


def _measure(
    grow: GrowPast, cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback
) -> LogOutcome:
    figures = _fill(grow, cluster, sizes, on_progress)
    wanted = int(sizes.rate * sizes.seconds)
    figures |= _appends(cluster)
    settle(cluster)
    grants = grant_times(cluster, _started_recipes(cluster)[:wanted], sizes.rate, on_progress)
    figures |= {f"pending_{name}": value for name, value in grants.items()}
    wait_for_projectors(cluster)
    figures |= _reads_as_of(cluster, sizes, on_progress)
    on_progress("vacuum", 0, 1)
    figures["vacuum_seconds"] = _seconds(cluster, b"VACUUM")
    # It reads a random sample of each table, of at most 30,000 pages.
    figures["analyze_seconds"] = _seconds(cluster, b"ANALYZE")
    stop_with_snapshot(cluster, sizes.events)
    start = started(cluster, _started_recipes(cluster)[-FREED_BEFORE_START:])
    figures["from_snapshot_seconds"] = round(start.seconds, 2)
    figures["from_snapshot_peak_mb"] = round(start.peak_mb)
    with psycopg.connect(cluster.owner_url) as owner:
        table_sizes: dict[str, int] = dict(owner.execute(_SIZES).fetchall())
    end = cluster.log.end()
    cluster.stop_all()
    return LogOutcome({"events": end, **figures}, end, table_sizes)


def _fill(
    grow: GrowPast, cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback
) -> dict[str, float]:
    """Write the past, build the read models, start all services and fill lab and queue."""
    queue = grow(cluster, sizes, on_progress)
    on_progress("read models", 0, 1)
    began = time.monotonic()
    cluster.command("replay", "rebuild")
    rebuilt = time.monotonic() - began
    on_progress("queue", 0, 1)
    cluster.start("serve", "projector")
    began = time.monotonic()
    cluster.start("scheduler")
    settle(cluster)
    cold = time.monotonic() - began
    queue(sizes.queued + sizes.systems)
    settle(cluster)
    wait_for_projectors(cluster)
    # A past that was written over years is frozen.
    _seconds(cluster, b"VACUUM (FREEZE, ANALYZE)")
    return {"rebuild_seconds": round(rebuilt, 1), "cold_seconds": round(cold, 1)}


def _started_recipes(cluster: BenchCluster) -> list[int]:
    wait_for_projectors(cluster)
    return [recipe_id for (recipe_id,) in cluster.log.rows(SQL["started_in_read_models"], ())]


def _appends(cluster: BenchCluster) -> dict[str, float]:
    """Append to new subjects, one event in a commit and then many, while the services only follow."""
    small = in_milliseconds([_append(cluster, 1) for _ in range(APPENDS)])
    large = in_milliseconds([_append(cluster, EVENTS_OF_A_LARGE_APPEND) for _ in range(LARGE_APPENDS)])
    return {
        **{f"append_{name}": value for name, value in small.items()},
        **{f"large_append_{name}": value for name, value in large.items()},
    }


def _append(cluster: BenchCluster, event_count: int) -> float:
    """Return the seconds of an append."""
    command_id = new_command_id()
    stamp = Stamp(datetime.now(UTC), "admin", f"request/{command_id}")
    subjects = [f"pool/{command_id}-{number}" for number in range(event_count)]
    changes = tuple(Change(subject, PoolRegistered(None), stamp) for subject in subjects)
    request = AppendRequest(command_id, changes, dict.fromkeys(subjects, 0), partition=EVERYBODY)
    began = time.monotonic()
    (outcome,) = cluster.log.append([request])
    seconds = time.monotonic() - began
    require_committed(outcome)
    return seconds


def _reads_as_of(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> dict[str, float]:
    """Request pages as of positions all over the log, one after the other."""
    dice = Random(f"as of/{sizes.seed}")
    times: dict[str, list[float]] = {}
    until = time.monotonic() + sizes.seconds
    with cluster.client() as client:
        while time.monotonic() < until or len(times.get("recipe", ())) < MIN_READS:
            position = dice.randint(sizes.events // 10, sizes.events)
            ((recipe_id,),) = cluster.log.rows(_RECIPE_AT, (position,))
            for kind, path in _paths(recipe_id).items():
                began = time.monotonic()
                client.get(path, as_of=str(position))
                times.setdefault(kind, []).append(time.monotonic() - began)
            on_progress("reads", len(times["recipe"]), MIN_READS)
    every = in_milliseconds([seconds for found in times.values() for seconds in found])
    each = {f"as_of_{kind}_p99_ms": in_milliseconds(found)["p99_ms"] for kind, found in times.items()}
    return {**{f"as_of_{name}": value for name, value in every.items()}, **each}


def _paths(recipe_id: int) -> dict[str, str]:
    lists = {name: f"/{name}" for name in ("jobs", "queue", "systems", "idle-pool")}
    return {
        **{name.replace("-", "_"): path for name, path in lists.items()},
        "recipe": f"/recipes/{recipe_id}",
    }


def _seconds(cluster: BenchCluster, statement: bytes) -> float:
    """Return the seconds of a statement of the owner."""
    with psycopg.connect(cluster.owner_url, autocommit=True) as owner:
        began = time.monotonic()
        owner.execute(statement)
        return round(time.monotonic() - began, 2)


_RECIPE_AT: Final = (
    b"SELECT split_part(originator_id, '/', 2)::integer FROM log.events"
    b" WHERE notification_id <= %s AND topic = 'recipe.completed' ORDER BY notification_id DESC LIMIT 1"
)
_SIZES: Final = (
    b"SELECT relnamespace::regnamespace || '_' || relname, pg_total_relation_size(oid) FROM pg_class"
    b" WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('log', 'read', 'live', 'secret')"
)
