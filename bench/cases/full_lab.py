"""The usual preparation of a case: a lab, and a queue longer than the number of its systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.cluster_fixture import BenchCluster
from bench.log_filler import LogFiller
from bench.outcome import ProgressCallback, Sizes
from bench.settling import settle, wait_for_projectors
from replay.workload.generated_access import with_access, without_policies
from replay.workload.generated_lab import generate_lab
from replay.workload.generated_queue import all_at_work, generate_filters, generate_sets

LABS, POOLS, GROUPS = 4, 50, 20
# Share of the systems with an access policy.
POLICIES = 0.5

Document = dict[str, Any]


def generated_lab(sizes: Sizes) -> Document:
    """Return a lab in which every system is Automated, with the requested pools and policies."""
    lab = all_at_work(generate_lab(sizes.seed, LABS, sizes.systems))
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
) -> None:
    """Start all processes, load a generated lab as `altered` returns it, and queue recipes for the original.

    By default, each recipe set has between 1 and `sizes.sets` recipes.
    """
    lab = generated_lab(sizes)
    controllers = [{**controller, "enabled": False} for controller in lab["lab_controllers"]]
    # The processes read events while more are written.
    cluster.start("serve", "scheduler", "projector")
    filler = LogFiller(cluster, on_progress)
    filler.lab({**altered(lab), "lab_controllers": controllers})
    queue(filler, lab, sizes, set_sizes or range(1, (sizes.sets or 1) + 1), recipe_count, priority)
    settle(cluster)
    wait_for_projectors(cluster)


def queue(
    filler: LogFiller,
    lab: Document,
    sizes: Sizes,
    set_sizes: Sequence[int],
    recipe_count: int,
    priority: str | None = None,
) -> None:
    filters = generate_filters(lab, sizes.seed, sizes.filters)
    filler.queue(generate_sets(filters, sizes.seed, set_sizes, priority), recipe_count)


def enable(cluster: BenchCluster) -> int:
    """Enable all labs, wait until all systems are allocated, and return the position before that."""
    before = cluster.log.end()
    with cluster.client() as client:
        for controller in client.pages("/lab-controllers", "lab_controllers")["lab_controllers"]:
            client.patch(client.path("lab-controllers", controller["fqdn"]), {"enabled": True})
    settle(cluster)
    return before
