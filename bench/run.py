"""One case: prepared, measured, and compared with the limits of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from bench import history
from bench.cases import (
    change,
    crowded,
    explanation,
    flood,
    full_lab,
    lifecycle,
    locks,
    long_log,
    multihost,
    pages,
    partitions,
    pending,
    query,
    rebuild,
    recovery,
    saturated,
    search,
    start,
    submit,
    verify,
)
from bench.cluster_fixture import BenchCluster, bench_cluster
from bench.copied_past import grow_with_copies
from bench.deployment import deployment
from bench.limits.database import of_the_database
from bench.limits.http import of_http
from bench.outcome import CaseOutcome, Figures, ProgressCallback, Sizes, no_progress

# Maximum duration of the measurement of each limit.
MAX_LIMIT_SECONDS = 2.5


RAW_INSERT_RATIO = {"of_raw_insert": ("events_per_second", "raw_insert_events_per_second")}


@dataclass(frozen=True)
class BenchCase:
    """A case.

    `ratios` maps the name of a ratio to its figure and its limit. `cluster` starts the cluster. `require`
    raises TooSmall. `sized` sets sizes that the user left open.
    """

    prepare: Callable[[BenchCluster, Sizes, ProgressCallback], None]
    measure: Callable[[BenchCluster, Sizes, ProgressCallback], Figures]
    ratios: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cluster: Callable[[], AbstractContextManager[BenchCluster]] = bench_cluster
    require: Callable[[Sizes], None] = lambda sizes: None
    sized: Callable[[Sizes], Sizes] = lambda sizes: sizes


CASES: Mapping[str, BenchCase] = {
    "pending": BenchCase(
        full_lab.fill_with_backlog,
        pending.measure,
        {"p50_in_durable_inserts": ("p50_ms", "durable_insert_and_notify_ms")},
        require=pending.require_enough,
    ),
    "crowded": BenchCase(full_lab.fill_with_backlog, crowded.measure, require=pending.require_enough),
    "saturated": BenchCase(full_lab.fill, saturated.measure, RAW_INSERT_RATIO),
    "partitions": BenchCase(partitions.prepare, partitions.measure, RAW_INSERT_RATIO),
    "flood": BenchCase(partitions.prepare, flood.measure, cluster=flood.paced_cluster),
    "submit": BenchCase(
        full_lab.fill_with_backlog,
        submit.measure,
        {"of_bare_falcon": ("jobs_per_second", "bare_falcon_requests_per_second")},
    ),
    "lifecycle": BenchCase(lambda *_: None, lifecycle.measure),
    "start": BenchCase(history.grow, start.measure),
    "rebuild": BenchCase(history.grow, rebuild.measure, RAW_INSERT_RATIO),
    "verify": BenchCase(verify.prepare, verify.measure),
    "multihost": BenchCase(multihost.prepare, multihost.measure),
    "query": BenchCase(full_lab.fill, query.measure),
    "search": BenchCase(lambda *_: None, search.measure),
    "explanation": BenchCase(full_lab.fill_with_backlog, explanation.measure, sized=full_lab.with_policies),
    "change": BenchCase(change.prepare, change.measure, sized=full_lab.with_policies),
    "locks": BenchCase(locks.prepare, locks.measure, require=locks.require_enough, sized=locks.with_locks),
    "long_log": BenchCase(
        lambda *_: None, partial(long_log.measure, grow_with_copies), require=long_log.require_enough
    ),
    "pages": BenchCase(history.grow_over_days, pages.measure),
    "recovery": BenchCase(full_lab.fill_with_backlog, recovery.measure, cluster=deployment),
}


def run(name: str, sizes: Sizes, on_progress: ProgressCallback = no_progress) -> CaseOutcome:
    (outcome,) = run_together([name], sizes, on_progress)
    return outcome


def run_together(
    names: Sequence[str], sizes: Sizes, on_progress: ProgressCallback = no_progress
) -> Iterator[CaseOutcome]:
    """Run several cases on one database; each continues where the previous one ended."""
    sizes = CASES[names[0]].sized(sizes)
    with CASES[names[0]].cluster() as cluster:
        machine_limits = limits(cluster, min(MAX_LIMIT_SECONDS, sizes.seconds), on_progress)
        CASES[names[0]].prepare(cluster, sizes, on_progress)
        for name in names:
            figures = CASES[name].measure(cluster, sizes, on_progress)
            yield CaseOutcome(
                name, sizes, figures, machine_limits, _ratios(CASES[name], figures, machine_limits)
            )


def limits(cluster: BenchCluster, seconds: float, on_progress: ProgressCallback = no_progress) -> Figures:
    figures: dict[str, float] = {}
    on_progress("limits of this machine", 0, 2)
    figures |= of_the_database(cluster.owner_url, seconds)
    on_progress("limits of this machine", 1, 2)
    figures |= of_http(cluster.settings, seconds)
    on_progress("limits of this machine", 2, 2)
    return figures


def _ratios(case: BenchCase, figures: Figures, limits: Figures) -> Figures:
    return {name: round(figures[figure] / limits[limit], 3) for name, (figure, limit) in case.ratios.items()}
