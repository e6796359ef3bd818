"""`labledger replay rebuild` on a long log."""

from __future__ import annotations

import time

from bench.cluster_fixture import Stand
from bench.outcome import Figures, Sizes
from bench.progress import Told


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """The whole command, the start of its process and the swap included; nothing else runs."""
    stand.stop_all()
    events = stand.log.end()
    began = time.monotonic()
    position = stand.command("replay", "rebuild")["position"]
    seconds = time.monotonic() - began
    if position < events:
        raise ValueError(f"the read models were built up to {position} of {events} events")
    return {
        "events": position,
        "events_per_second": round(position / seconds),
        "seconds": round(seconds, 2),
    }
