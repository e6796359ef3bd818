"""`labledger replay rebuild` on a long log."""

from __future__ import annotations

import time

from bench.cluster_fixture import BenchCluster
from bench.outcome import Figures, ProgressCallback, Sizes


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure the whole command, including the start of its process and the swap, while nothing else runs."""
    cluster.stop_all()
    events = cluster.log.end()
    began = time.monotonic()
    position = cluster.command("replay", "rebuild")["position"]
    seconds = time.monotonic() - began
    if position < events:
        raise ValueError(f"the read models were built up to {position} of {events} events")
    return {"events": position, "events_per_second": round(position / seconds), "seconds": round(seconds, 2)}
