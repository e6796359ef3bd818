"""Rate of allocations of two partitions with a scheduler each, which share one log."""

from __future__ import annotations

from typing import Any, Final

from bench.cases.full_lab import generated_lab
from bench.cluster_fixture import BenchCluster
from bench.cpu_use import cpu_figures, cpu_times
from bench.limits.database import EVENTS_OF_A_GRANT
from bench.log_filler import LogFiller
from bench.measurements import SQL, span_of
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle, take_turn, wait_for_projectors
from domain.directory.partitions import DEFAULT
from replay.workload.generated_queue import generate_filters, generate_sets

SECOND: Final = "second"
COUNTERS: Final = ("scheduler_commits", "scheduler_commits_reread")

Document = dict[str, Any]


def prepare(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Start all processes, divide a lab and a queue between two partitions, and disable all labs."""
    lab = generated_lab(sizes)
    disabled = [{**controller, "enabled": False} for controller in lab["lab_controllers"]]
    names = [controller["fqdn"] for controller in disabled]
    halves = {DEFAULT: names[0::2], SECOND: names[1::2]}
    cluster.start("serve", "scheduler", "projector")
    with cluster.client() as client:
        client.put(client.path("partitions", SECOND), {})
    filler = LogFiller(cluster, on_progress)
    filler.lab({**lab, "lab_controllers": disabled}, {SECOND: halves[SECOND]})
    for number, (partition, controllers) in enumerate(halves.items()):
        half = {**lab, "systems": [each for each in lab["systems"] if each["lab_controller"] in controllers]}
        filters = generate_filters(half, sizes.seed + number, sizes.filters // len(halves))
        sets = generate_sets(filters, sizes.seed, range(1, (sizes.sets or 1) + 1))
        filler.queue(sets, sizes.queued // len(halves), partition)
    settle(cluster, (DEFAULT, SECOND))
    # The schedulers store their last counts when they end, so those of the preparation can be left out.
    cluster.stop("scheduler")
    cluster.start("scheduler")
    settle(cluster, (DEFAULT, SECOND))
    wait_for_projectors(cluster)


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure from the first system that is available to the last allocation of both partitions.

    The labs of a partition are enabled in one commit, so that no event of the partition but new sets comes
    between its grants. `commits_behind_others` follow events that their schedulers had not read.
    `reread_percent` is the share of the commits of both schedulers that they had to read from the log again,
    since they were started after the preparation.
    """
    counted_before = _commits(cluster)
    before, filler = cluster.log.end(), LogFiller(cluster)
    filler.catch_up()
    cpu_before = cpu_times(cluster.pids())
    filler.enable_labs()
    # Until one partition is done, because afterwards at most half of the work is left.
    take_turn(cluster, DEFAULT)
    cpu = cpu_figures(cpu_before, cpu_times(cluster.pids()))
    settle(cluster, (DEFAULT, SECOND))
    lag = wait_for_projectors(cluster)
    span = span_of(cluster.log, "system.scheduled", before)
    shares = [count for _, count in cluster.log.rows(SQL["allocations_by_partition"], (before,))]
    cluster.stop("scheduler")
    counted = _commits(cluster)
    ((behind,),) = cluster.log.rows(SQL["commits_behind_others"], (before,))
    commits, reread = (counted[name] - counted_before[name] for name in COUNTERS)
    return {
        "allocations": span.events,
        "allocations_of_the_smaller_half": min(shares),
        "systems_left_idle": sizes.systems - span.subjects,
        "allocations_per_second": round(span.per_second),
        "events_per_second": round(EVENTS_OF_A_GRANT * span.per_second),
        "seconds": round(span.seconds, 3),
        "commits": commits,
        "commits_behind_others": behind,
        "reread_percent": round(100 * reread / commits, 2),
        "projectors_behind_seconds": round(lag, 2),
        **cpu,
    }


def _commits(cluster: BenchCluster) -> dict[str, float]:
    """Return the stored counts of commits, and of those that were read again."""
    return {**dict.fromkeys(COUNTERS, 0.0), **dict(cluster.log.rows(SQL["scheduler_commits"], ()))}
