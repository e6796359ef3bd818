"""The usual preparation of a case: a lab, and a queue longer than the number of its systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from bench.cluster_fixture import BenchCluster
from bench.log_filler import LogFiller
from bench.outcome import ProgressCallback, Sizes
from bench.queues import paths, queue_section
from bench.settling import settle, wait_for_projectors
from domain.directory.partitions import DEFAULT
from replay.workload.generated_access import with_access, without_policies
from replay.workload.generated_lab import generate_lab
from replay.workload.generated_locks import generate_profiles, with_buckets, with_locks
from replay.workload.generated_queue import all_at_work, generate_filters, generate_sets

LABS, POOLS, GROUPS = 4, 50, 20
# Share of the systems with an access policy.
POLICIES = 0.5
# With `aged`, everybody has waited K ticks at once; otherwise nobody does while a case runs.
YOUNG: Final = {"coefficient": 1_000}
AGED: Final = {"coefficient": 1, "tick_seconds": 1}
CONFIGURATION: Final = "/partitions/default/configuration"

Document = dict[str, Any]


def generated_lab(sizes: Sizes) -> Document:
    """Return a lab in which every system is Automated, with the requested pools and policies."""
    lab = all_at_work(generate_lab(sizes.seed, LABS, sizes.systems))
    # The benchmark aborts recipes to end them, which must not make their systems Broken.
    controllers = [{**controller, "broken_after": 0} for controller in lab["lab_controllers"]]
    lab = {**lab, "lab_controllers": controllers}
    if not sizes.pools:
        return without_policies(lab)
    return with_access(lab, sizes.seed, sizes.pools, sizes.groups, sizes.policies)


def with_policies(sizes: Sizes) -> Sizes:
    """Return the sizes with pools, groups and policies, unless pools are given."""
    return sizes if sizes.pools else replace(sizes, pools=POOLS, groups=GROUPS, policies=POLICIES)


def fill(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Start all processes, and queue recipes while all labs are disabled."""
    fill_with(cluster, sizes, on_progress, sizes.queued)


def fill_with_backlog(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    """Queue recipes so that `sizes.queued` of them still wait when every system is allocated."""
    fill_with(cluster, sizes, on_progress, sizes.systems + sizes.queued)


def fill_with(
    cluster: BenchCluster,
    sizes: Sizes,
    on_progress: ProgressCallback,
    recipe_count: int,
    set_sizes: Sequence[int] = (),
    priority: str | None = None,
    altered: Callable[[Document], Document] = lambda lab: lab,
    ahead: Sequence[Document] = (),
) -> None:
    """Start all processes, load a generated lab as `altered` returns it, and queue recipes for the original.

    By default, each recipe set has between 1 and `sizes.sets` recipes. The sets `ahead` are submitted before.
    """
    lab = generated_lab(sizes)
    controllers = [{**controller, "enabled": False} for controller in lab["lab_controllers"]]
    # The processes read events while more are written.
    cluster.start("serve", "scheduler", "projector")
    filler = LogFiller(cluster, on_progress, paths(sizes.queues))
    filler.lab({**altered(lab), "lab_controllers": controllers})
    configure(cluster, sizes)
    filler.queue(iter(ahead), len(ahead))
    queue(filler, lab, sizes, set_sizes or range(1, (sizes.sets or 1) + 1), recipe_count, priority)
    settle(cluster)
    wait_for_projectors(cluster)


def configure(cluster: BenchCluster, sizes: Sizes) -> None:
    """Put the configuration and the job filters, if the sizes ask for them."""
    with cluster.client() as client:
        if sections := configuration(sizes):
            client.put(CONFIGURATION, sections)
        for number in range(sizes.job_filters):
            client.put(f"/filters/bench-{number:04}", unmatched_filter(number))


def configuration(sizes: Sizes) -> Document:
    """Return the sections of the configuration that differ from their defaults."""
    weights = {"weights": AGED if sizes.aged else YOUNG} if sizes.locks else {}
    return {**weights, "queues": queue_section(sizes.queues, sizes.systems)} if sizes.queues else weights


def unmatched_filter(number: int) -> Document:
    """Return a job filter that matches no set, by one field or another."""
    field = ("user", "group", "task", "reason")[number % 4]
    return {
        "priority": number,
        "predicate": {"field": field, "op": "=", "value": f"bench-{number}"},
        "action": "PAUSE",
        "reason": "of the benchmark",
    }


def queue(
    filler: LogFiller,
    lab: Document,
    sizes: Sizes,
    set_sizes: Sequence[int],
    recipe_count: int,
    priority: str | None = None,
) -> None:
    filters = generate_filters(lab, sizes.seed, sizes.filters)
    sets = generate_sets(filters, sizes.seed, set_sizes, priority)
    filler.queue(contended(sets, lab, sizes), recipe_count)


def contended(sets: Iterator[Document], lab: Document, sizes: Sizes) -> Iterator[Document]:
    """Return the sets with the locks and buckets that the sizes ask for."""
    if sizes.locks:
        sets = with_locks(sets, generate_profiles(lab, sizes.seed, sizes.locks, sizes.profiles), sizes.seed)
    if sizes.buckets:
        sets = with_buckets(sets, sizes.buckets, max(1, sizes.systems // sizes.buckets), sizes.seed)
    return sets


def enable(cluster: BenchCluster, partitions: Sequence[str] = (DEFAULT,)) -> int:
    """Enable all labs, wait until all systems are allocated, and return the position before that."""
    before = cluster.log.end()
    with cluster.client() as client:
        for controller in client.pages("/lab-controllers", "lab_controllers")["lab_controllers"]:
            client.patch(client.path("lab-controllers", controller["fqdn"]), {"enabled": True})
    settle(cluster, partitions)
    return before
