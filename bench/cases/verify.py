"""`labledger replay verify` on the log of a saturated run."""

from __future__ import annotations

import time

from bench.cases import saturated
from bench.cases.full_lab import fill
from bench.cluster_fixture import BenchCluster
from bench.outcome import Figures, ProgressCallback, Sizes


def prepare(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    fill(cluster, sizes, on_progress)
    saturated.measure(cluster, sizes, on_progress)


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure the whole command: two recomputations and the audit in parallel, while nothing else runs."""
    cluster.stop_all()
    began = time.monotonic()
    found = cluster.command("replay", "verify")
    seconds = time.monotonic() - began
    recomputations = found["hash_seeds"].values()
    decisions = [each["decisions"] for each in recomputations]
    return {
        "events": cluster.log.end(),
        "decisions": min(decisions),
        "different": sum(each["different"] + each["unchecked"] + each["mended"] for each in recomputations),
        "rules_broken": int(found["audit"]["broken"]),
        "decisions_per_second": round(min(decisions) / seconds),
        "events_per_second": round(cluster.log.end() / seconds),
        "seconds": round(seconds, 2),
    }
