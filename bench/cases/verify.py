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
    result = cluster.command("replay", "verify")
    seconds = time.monotonic() - began
    recomputations = result["hash_seeds"].values()
    decisions = [part["decisions"] for part in recomputations]
    return {
        "events": cluster.log.end(),
        "decisions": min(decisions),
        "different": sum(part["different"] + part["unchecked"] + part["mended"] for part in recomputations),
        "rules_broken": int(result["audit"]["broken"]),
        "decisions_per_second": round(min(decisions) / seconds),
        "events_per_second": round(cluster.log.end() / seconds),
        "seconds": round(seconds, 2),
    }
