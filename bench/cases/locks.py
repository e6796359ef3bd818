"""Time from the end of a recipe to the grant of its locks to a set that waits for them.

Each of many networks is locked exclusively by one running set, and two further sets with that network have
their systems and wait for their locks. All other systems run recipes with locks that do not conflict with
these. The running sets end at a rate.
"""

from __future__ import annotations

from dataclasses import replace

from bench.cases.full_lab import Document, enable, fill_with, generated_lab
from bench.cases.pending import TooSmall
from bench.cluster_fixture import BenchCluster
from bench.completions import end_in_time
from bench.measurements import SQL, in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle
from replay.workload.generated_locks import NETWORK, generate_profiles
from replay.workload.generated_queue import generate_filters

LEVELS, PROFILES = 5, 200
# One in this number of systems is held by the running set of a network, and twice as many by waiting sets.
SYSTEMS_PER_NETWORK, WAITING_PER_NETWORK = 10, 2
# The sets of the networks get their systems before the queue, although two of three weigh more than it.
PRIORITY, PRIORITY_OF_QUEUE = "Urgent", "Normal"


def with_locks(sizes: Sizes) -> Sizes:
    """Return the sizes with locks, unless locks are given."""
    return sizes if sizes.locks else replace(sizes, locks=LEVELS, profiles=PROFILES)


def require_enough(sizes: Sizes) -> None:
    """Raise TooSmall if fewer sets hold a network than are to end."""
    wanted, networks = int(sizes.rate * sizes.seconds), sizes.systems // SYSTEMS_PER_NETWORK
    if networks < wanted:
        raise TooSmall(
            f"locks: {wanted} recipes are to end ({sizes.rate:g} a second, {sizes.seconds:g} s), but"
            f" {sizes.systems} systems (--systems) have only {networks} networks"
        )


def prepare(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    ahead = conflicting_sets(generated_lab(sizes), sizes)
    recipe_count = sizes.systems + sizes.queued
    fill_with(cluster, sizes, on_progress, recipe_count, priority=PRIORITY_OF_QUEUE, ahead=ahead)


def conflicting_sets(lab: Document, sizes: Sizes) -> list[Document]:
    """Return sets of one recipe that run on any system of an arch; each three of them have one network."""
    networks = sizes.systems // SYSTEMS_PER_NETWORK
    profiles = generate_profiles(lab, sizes.seed, sizes.locks, sizes.profiles)
    filters = generate_filters(lab, sizes.seed, sizes.filters)
    sets = []
    for number in range(networks * (1 + WAITING_PER_NETWORK)):
        recipe = filters[number % len(filters)].recipe
        of_arch = {"and": recipe["host_requires"]["and"][:1]}
        locks = {
            **profiles[number % len(profiles)],
            NETWORK: {"Exclusive": [f"bench-{number % networks:04}"]},
        }
        sets.append({"priority": PRIORITY, "recipes": [{**recipe, "host_requires": of_arch, "locks": locks}]})
    return sets


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    enable(cluster)
    wanted = int(sizes.rate * sizes.seconds)
    ((waiting,),) = cluster.log.rows(SQL["locking"], ())
    holders = [recipe_id for (recipe_id,) in cluster.log.rows(SQL["network_holders"], (wanted,))]
    position = cluster.log.end()
    late = end_in_time(cluster, holders, sizes.rate, on_progress) if waiting else []
    settle(cluster)
    seconds = [each for (each,) in cluster.log.rows(SQL["seconds_to_locks"], {"after": position})]
    if not seconds:
        raise TooSmall("locks: no recipe ended for whose locks a set waits; change --systems or --queued")
    return {
        **in_milliseconds(seconds),
        "ended": len(holders),
        "got_locks": len(seconds),
        "sets_waiting": waiting,
        "sent_late_p99_ms": in_milliseconds(late)["p99_ms"],
    }
