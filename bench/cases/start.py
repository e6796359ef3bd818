"""Start of the scheduler on a long log, without and with a snapshot, until its first decisions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.cluster_fixture import BenchCluster
from bench.completions import REPORT
from bench.measurements import SQL
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import take_turn
from store.snapshots import Snapshots


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    events = cluster.log.end()
    cold = started(cluster, [_last_running(cluster)])
    stop_with_snapshot(cluster, events)
    from_snapshot = started(cluster, [_last_running(cluster)])
    return {
        "events": events,
        "cold_seconds": round(cold.seconds, 2),
        "cold_allocation_seconds": round(cold.allocation_seconds, 2),
        "from_snapshot_seconds": round(from_snapshot.seconds, 2),
        "from_snapshot_allocation_seconds": round(from_snapshot.allocation_seconds, 2),
        "peak_mb": round(cold.peak_mb),
        "from_snapshot_peak_mb": round(from_snapshot.peak_mb),
    }


class Started(NamedTuple):
    """Seconds from the start of the process, and its peak memory.

    `allocation_seconds` is the time until it allocates a system that was freed before, `seconds` the time
    until it decides a job that was submitted meanwhile.
    """

    allocation_seconds: float
    seconds: float
    peak_mb: float


def stop_with_snapshot(cluster: BenchCluster, events: int) -> None:
    """Stop the scheduler. Raises ValueError without a snapshot of at least this number of events."""
    cluster.stop("scheduler")
    if Snapshots(cluster.log).load().position < events:
        raise ValueError("the scheduler wrote no snapshot when it stopped")


def _last_running(cluster: BenchCluster) -> int:
    ((recipe_id,),) = cluster.log.rows(SQL["last_running"], ())
    return int(recipe_id)


def started(cluster: BenchCluster, recipe_ids: Sequence[int]) -> Started:
    """End these recipes, start the scheduler, and measure until it has decided."""
    before = cluster.log.end()
    with cluster.client() as client:
        for recipe_id in recipe_ids:
            client.post(f"/recipes/{recipe_id}/progress", REPORT)
    began = time.time()
    cluster.start("scheduler")
    take_turn(cluster)
    seconds = time.time() - began
    ((allocated,),) = cluster.log.rows(SQL["first_allocation"], {"after": before, "since": began, "epoch": 0})
    if allocated is None:
        raise ValueError("no recipe in the queue fits the system that came free")
    return Started(allocated - began, seconds, cluster.peak_mb("scheduler"))
