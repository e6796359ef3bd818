"""Rate of allocations while all systems are idle and the queue is long."""

from __future__ import annotations

from bench.account import account, account_figures
from bench.cases.full_lab import enable
from bench.cluster_fixture import BenchCluster
from bench.limits.database import EVENTS_OF_A_GRANT
from bench.measurements import span_of
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import wait_for_projectors


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure from the commit that makes the first system available to the last allocation."""
    used_before = account(cluster)
    before = enable(cluster)
    lag = wait_for_projectors(cluster)
    span = span_of(cluster.log, "system.scheduled", before)
    return {
        "allocations": span.events,
        "systems_given_away": span.subjects,
        # Systems that no recipe in the queue fits; there may be some if filters are few.
        "systems_left_idle": sizes.systems - span.subjects,
        "allocations_per_second": round(span.per_second),
        "events_per_second": round(EVENTS_OF_A_GRANT * span.per_second),
        "seconds": round(span.seconds, 3),
        "projectors_behind_seconds": round(lag, 2),
        **account_figures(used_before, account(cluster), span.events, "allocation"),
    }
