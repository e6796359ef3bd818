"""All systems are idle, and a deep queue wants them: how fast are they given away?"""

from __future__ import annotations

from bench.cases.full_lab import enable
from bench.cluster_fixture import Stand
from bench.limits.rows import EVENTS_OF_A_GRANT
from bench.measurements import span_of
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import wait_for_projectors


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """From the commit that makes the first system available to that of the last allocation."""
    before = enable(stand)
    lag = wait_for_projectors(stand)
    span = span_of(stand.log, "system.scheduled", before)
    return {
        "allocations": span.events,
        "systems_given_away": span.subjects,
        # Nobody in the queue wants those: with few filters there may be some.
        "systems_left_idle": sizes.systems - span.subjects,
        "allocations_per_second": round(span.per_second),
        "events_per_second": round(EVENTS_OF_A_GRANT * span.per_second),
        "seconds": round(span.seconds, 3),
        "projectors_behind_seconds": round(lag, 2),
    }
