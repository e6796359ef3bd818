"""The scheduler starts on a long log: without a snapshot, then with one, until it has answered a question."""

from __future__ import annotations

import time

from api.bench.outcome import Figures, Sizes
from api.bench.settling import take_turn
from api.bench.stand import Stand
from api.bench.told import Told
from api.store.lease import SCHEDULER
from api.store.snapshots import Snapshots


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """On what `history` has left."""
    events = stand.log.end()
    cold, peak = _started(stand)
    stand.stop("scheduler")
    kept = Snapshots(stand.log, SCHEDULER).load().position
    if kept < events:
        raise ValueError("the scheduler has kept no snapshot when it was told to stop")
    from_snapshot, peak_again = _started(stand)
    return {
        "events": events,
        "cold_seconds": round(cold, 2),
        "from_snapshot_seconds": round(from_snapshot, 2),
        "peak_mb": round(peak),
        "from_snapshot_peak_mb": round(peak_again),
    }


def _started(stand: Stand) -> tuple[float, float]:
    """Seconds from the start of the process to its first answer, and the most memory it had until then."""
    began = time.monotonic()
    stand.start("scheduler")
    take_turn(stand)
    return time.monotonic() - began, stand.peak_mb("scheduler")
