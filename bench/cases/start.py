"""The scheduler starts on a long log: without a snapshot, then with one, until it has answered."""

from __future__ import annotations

import time
from typing import Final, NamedTuple

from bench.cluster_fixture import Stand
from bench.measurements import SQL
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import take_turn
from store.lease import SCHEDULER
from store.snapshots import Snapshots

ENDED: Final = {"state": "aborted", "reason": "ended by the benchmark"}


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """On what `history` has left."""
    events = stand.log.end()
    cold = _started(stand)
    stand.stop("scheduler")
    kept = Snapshots(stand.log, SCHEDULER).load().position
    if kept < events:
        raise ValueError("the scheduler has kept no snapshot when it was told to stop")
    from_snapshot = _started(stand)
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
    """From the start of the process: until it has given away a system that came free before, and until a job
    that was submitted meanwhile is answered; the most memory it had until then.
    """

    allocation_seconds: float
    seconds: float
    peak_mb: float


def _started(stand: Stand) -> Started:
    before = stand.log.end()
    with stand.client() as client:
        ((recipe_id,),) = stand.log.rows(SQL["last_running"], ())
        client.post(f"/recipes/{recipe_id}/progress", ENDED)
    began = time.time()
    stand.start("scheduler")
    take_turn(stand)
    seconds = time.time() - began
    ((allocated,),) = stand.log.rows(SQL["first_allocation"], {"after": before, "since": began, "epoch": 0})
    if allocated is None:
        raise ValueError("nobody in the queue wants the system that came free")
    return Started(allocated - began, seconds, stand.peak_mb("scheduler"))
