"""Start of the scheduler on a long log, without and with a snapshot, until its first decisions."""

from __future__ import annotations

import time
from typing import NamedTuple

from bench.cluster_fixture import BenchCluster
from bench.completions import REPORT
from bench.measurements import SQL
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import take_turn
from store.snapshots import Snapshots


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    events = cluster.log.end()
    cold = _started(cluster)
    cluster.stop("scheduler")
    snapshot_position = Snapshots(cluster.log).load().position
    if snapshot_position < events:
        raise ValueError("the scheduler wrote no snapshot when it stopped")
    from_snapshot = _started(cluster)
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


def _started(cluster: BenchCluster) -> Started:
    before = cluster.log.end()
    with cluster.client() as client:
        ((recipe_id,),) = cluster.log.rows(SQL["last_running"], ())
        client.post(f"/recipes/{recipe_id}/progress", REPORT)
    began = time.time()
    cluster.start("scheduler")
    take_turn(cluster)
    seconds = time.time() - began
    ((allocated,),) = cluster.log.rows(SQL["first_allocation"], {"after": before, "since": began, "epoch": 0})
    if allocated is None:
        raise ValueError("no recipe in the queue fits the system that came free")
    return Started(allocated - began, seconds, cluster.peak_mb("scheduler"))
