"""One case: prepared, measured, and compared with the limits of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from bench import history
from bench.cases import (
    change,
    explanation,
    full_lab,
    lifecycle,
    multihost,
    pending,
    query,
    rebuild,
    recovery,
    saturated,
    start,
    submit,
    verify,
)
from bench.cluster_fixture import BenchCluster, bench_cluster
from bench.deployment import deployment
from bench.limits.database import of_the_database
from bench.limits.http import of_http
from bench.outcome import CaseOutcome, Figures, ProgressCallback, Sizes, no_progress

# Maximum duration of the measurement of each limit.
MAX_LIMIT_SECONDS = 2.5


def nothing(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Prepare nothing."""


def any_sizes(sizes: Sizes) -> None:
    """Accept any sizes."""


def as_given(sizes: Sizes) -> Sizes:
    """Return the sizes unchanged."""
    return sizes


@dataclass(frozen=True)
class BenchCase:
    """A case.

    `ratios` maps the name of a ratio to its figure and its limit. `cluster` starts the cluster. `require`
    raises TooSmall. `sized` sets sizes that the user left open.
    """

    about: str
    prepare: Callable[[BenchCluster, Sizes, ProgressCallback], None]
    measure: Callable[[BenchCluster, Sizes, ProgressCallback], Figures]
    ratios: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cluster: Callable[[], AbstractContextManager[BenchCluster]] = bench_cluster
    require: Callable[[Sizes], None] = any_sizes
    sized: Callable[[Sizes], Sizes] = as_given


CASES: Mapping[str, BenchCase] = {
    "pending": BenchCase(
        "from the end of a recipe to the next allocation of its system",
        full_lab.fill_behind,
        pending.measure,
        {"p50_in_durable_inserts": ("p50_ms", "durable_insert_and_notify_ms")},
        require=pending.require_enough,
    ),
    "saturated": BenchCase(
        "a deep queue in front of systems that are all idle",
        full_lab.fill,
        saturated.measure,
        {"of_raw_insert": ("events_per_second", "raw_insert_events_per_second")},
    ),
    "submit": BenchCase(
        "jobs over HTTP from sixteen clients, as XML, behind a deep queue",
        full_lab.fill_behind,
        submit.measure,
        {"of_bare_falcon": ("jobs_per_second", "bare_falcon_requests_per_second")},
    ),
    "lifecycle": BenchCase(
        "recipes from submission to completed over HTTP, in a lab whose machines take no time",
        nothing,
        lifecycle.measure,
    ),
    "start": BenchCase(
        "the start of a scheduler on a long log, without and with a snapshot", history.grow, start.measure
    ),
    "rebuild": BenchCase(
        "the rebuild of the read models from a long log",
        history.grow,
        rebuild.measure,
        {"of_raw_insert": ("events_per_second", "raw_insert_events_per_second")},
    ),
    "verify": BenchCase(
        "every decision of a saturated run recomputed, twice", verify.prepare, verify.measure
    ),
    "multihost": BenchCase(
        "sets of two to eight recipes on half a lab, beside single ones", multihost.prepare, multihost.measure
    ),
    "query": BenchCase("every read resource while all systems are given away", full_lab.fill, query.measure),
    "explanation": BenchCase(
        "why recipes wait, and why others got their systems, over HTTP",
        full_lab.fill_behind,
        explanation.measure,
        sized=full_lab.with_policies,
    ),
    "change": BenchCase(
        "from a change of policy or inventory of a thousand systems to the last decision that follows",
        change.prepare,
        change.measure,
        sized=full_lab.with_policies,
    ),
    "recovery": BenchCase(
        "from kill -9 to the next answer and the next allocation, under `labledger up`",
        full_lab.fill_behind,
        recovery.measure,
        cluster=deployment,
    ),
}


def run(name: str, sizes: Sizes, on_progress: ProgressCallback = no_progress) -> CaseOutcome:
    """Run a case on a temporary database."""
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
    """Measure the limits of the machine while nothing else runs."""
    found: dict[str, float] = {}
    on_progress("limits of this machine", 0, 2)
    found |= of_the_database(cluster.owner_url, seconds)
    on_progress("limits of this machine", 1, 2)
    found |= of_http(cluster.settings, seconds)
    on_progress("limits of this machine", 2, 2)
    return found


def _ratios(case: BenchCase, figures: Figures, limits: Figures) -> Figures:
    return {name: round(figures[figure] / limits[limit], 3) for name, (figure, limit) in case.ratios.items()}
