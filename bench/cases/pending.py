"""Time from the end of a recipe to the next allocation of its system, while recipes end at a rate."""

from __future__ import annotations

from bench.cases.full_lab import enable
from bench.cluster_fixture import BenchCluster
from bench.completions import end_in_time
from bench.measurements import SQL, in_milliseconds, seconds_to_next
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle
from domain.errors import LabledgerError


class TooSmall(LabledgerError):
    """The case cannot be measured with these sizes."""


def require_enough(sizes: Sizes) -> None:
    """Raise TooSmall if fewer recipes can run or wait than are to end."""
    wanted = int(sizes.rate * sizes.seconds)
    shortages = [
        f"{wanted} recipes are to end ({sizes.rate:g} a second, {sizes.seconds:g} s), but {shortage}"
        for size, shortage in (
            (sizes.systems, f"only {sizes.systems} can run (--systems)"),
            (sizes.queued, f"only {sizes.queued} wait (`all` begins with a hundredth of --queued)"),
        )
        if size < wanted
    ]
    if shortages:
        raise TooSmall("; ".join(shortages))


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    before = enable(cluster)
    wanted = int(sizes.rate * sizes.seconds)
    recipe_ids = [recipe_id for (recipe_id,) in cluster.log.rows(SQL["started"], (before, wanted))]
    position = cluster.log.end()
    late = end_in_time(cluster, recipe_ids, sizes.rate, on_progress)
    settle(cluster)
    seconds = seconds_to_next(cluster.log, position)
    if not seconds:
        raise TooSmall(
            f"pending: none of the {sizes.queued} waiting recipes can use the systems that came free;"
            " change --filters, --queued or --systems"
        )
    return {
        **in_milliseconds(seconds),
        "ended": len(recipe_ids),
        "allocated_again": len(seconds),
        "sent_late_p99_ms": in_milliseconds(late)["p99_ms"],
    }
