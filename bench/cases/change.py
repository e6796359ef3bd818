"""Changes of the access to a thousand systems, and then of the properties of a thousand others.

Both groups of systems are idle beside a queue: access policies exclude all recipes from the first group, and
the second group has more memory than any filter allows. All other systems are busy. A new policy of a pool
opens the first group; an import corrects the memory of the second. Before these, a limit of placed recipes
that kept further systems idle is raised, a job filter that holds many sets back is put and removed, and so is
a tree of fair queues, with which each waiting recipe stands in another line. Each measurement ends when all
consequences are decided. In the end as many systems as the lab has register in a new lab, twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

from api.client import Client
from bench.cases.full_lab import CONFIGURATION, Document, configuration, enable, fill_with, generated_lab
from bench.cluster_fixture import BenchCluster
from bench.measurements import SQL, span_of
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.queues import queue_section
from bench.settling import settle, take_turn
from domain.directory.partitions import DEFAULT

MAX_CHANGED: Final = 1_000
QUEUES: Final = 200
# Each of the two groups has at most one in this number of systems.
SYSTEMS_PER_CHANGED: Final = 4
ITEMS_PER_PART: Final = 1_000
LAB: Final = "registering.bench"
POOL, NOBODY = "bench-set-aside", "bench-nobody"
NOBODYS: Final = {"permission": "submit", "user": NOBODY, "maximum_effective_priority": "Urgent"}
EVERYBODYS: Final = {"permission": "submit", "everybody": True, "maximum_effective_priority": "Urgent"}
# Filters allow at most a fifth of a terabyte more than some system has.
FAR_TOO_MUCH_MB: Final = 2_000_000_000
FILTER: Final = "/filters/bench-pause"
LOW_PAUSED: Final = {
    "priority": 0,
    "predicate": {"field": "priority", "op": "=", "value": "Low"},
    "action": "PAUSE",
    "reason": "of the benchmark",
}


def prepare(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> None:
    altered = partial(set_aside, count=changed(sizes))
    fill_with(cluster, sizes, on_progress, sizes.systems + sizes.queued, altered=altered)


def changed(sizes: Sizes) -> int:
    return min(MAX_CHANGED, max(1, sizes.systems // SYSTEMS_PER_CHANGED))


def set_aside(lab: Document, count: int) -> Document:
    """Put the first `count` systems into a pool that nobody may use; give the next too much memory."""
    pool = {"name": POOL, "owner_group": None, "access_policy": [NOBODYS]}
    systems = [
        *({**_without_policy(system), "pools": [POOL]} for system in lab["systems"][:count]),
        *({**system, "memory_mb": FAR_TOO_MUCH_MB} for system in lab["systems"][count : 2 * count]),
        *lab["systems"][2 * count :],
    ]
    users = [*lab["users"], {"name": NOBODY}]
    return {**lab, "users": users, "pools": [*lab["pools"], pool], "systems": systems}


def _without_policy(system: Document) -> Document:
    return {name: value for name, value in system.items() if name != "access_policy"}


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure from the commit of each change to the last decision that follows.

    A job that is submitted after the change is decided after all consequences of the change.
    """
    # A third group as large as each of the others stays idle for want of room.
    with cluster.client() as client:
        _put_limit(client, sizes, sizes.systems - 3 * changed(sizes))
    enable(cluster)
    unaltered = generated_lab(sizes)["systems"][changed(sizes) : 2 * changed(sizes)]
    memory = [{"fqdn": system["fqdn"], "memory_mb": system["memory_mb"]} for system in unaltered]
    return {
        "systems_changed": changed(sizes),
        **_change_figures(cluster, "limit_raised", lambda client: _put_limit(client, sizes, sizes.systems)),
        **_change_figures(cluster, "filter_put", lambda client: client.put(FILTER, LOW_PAUSED)),
        **_change_figures(cluster, "filter_removed", lambda client: client.delete(FILTER)),
        **_change_figures(cluster, "queues_put", partial(_put_queues, sizes)),
        **_change_figures(cluster, "queues_removed", lambda client: _put_limit(client, sizes, sizes.systems)),
        **_granting_figures(cluster, "policy", _open_pool),
        **_granting_figures(
            cluster, "inventory", lambda client: client.post("/inventory", {"systems": memory})
        ),
        **_registration_figures(cluster, sizes.systems),
    }


def _registration_figures(cluster: BenchCluster, count: int) -> Figures:
    """Return the seconds of a registration of new systems, and of the same one by the next instance.

    The systems take nothing yet, so that nothing but the registration is measured.
    """
    with cluster.client() as client:
        client.put(client.path("lab-controllers", LAB), {})
    seconds = [_register(cluster, count, instance) for instance in ("first", "second")]
    return {
        "systems_registered": count,
        "registration_seconds": round(seconds[0], 3),
        "registered_again_seconds": round(seconds[1], 3),
    }


def _register(cluster: BenchCluster, count: int, instance: str) -> float:
    began = time.monotonic()
    with cluster.client() as client:
        path = client.path("lab-controllers", LAB, "registration")
        for first in range(0, count, ITEMS_PER_PART):
            numbers = range(first, min(count, first + ITEMS_PER_PART))
            systems = [{"fqdn": f"bench-{number}.{LAB}", "draining": True} for number in numbers]
            part = {"systems": systems, "last": numbers.stop == count}
            answer = client.post(path, {"instance": instance, "partition": DEFAULT, **part})
            refused = [item for item in answer["systems"] if item["status"] != 200]
            if refused:
                raise ValueError(f"registration: {len(refused)} items were refused, first {refused[0]}")
    return time.monotonic() - began


def _put_limit(client: Client, sizes: Sizes, placed_recipes: int) -> None:
    client.put(CONFIGURATION, {**configuration(sizes), "limits": {"placed_recipes": placed_recipes}})


def _put_queues(sizes: Sizes, client: Client) -> None:
    limits = {"placed_recipes": sizes.systems}
    tree = queue_section(QUEUES, sizes.systems)
    client.put(CONFIGURATION, {**configuration(sizes), "limits": limits, "queues": tree})


def _open_pool(client: Client) -> None:
    client.put(client.path("pools", POOL, "access-policy"), {"entries": [EVERYBODYS]})


def _change_figures(cluster: BenchCluster, name: str, change: Callable[[Client], object]) -> Figures:
    before = cluster.log.end()
    with cluster.client() as client:
        change(client)
    recipe = take_turn(cluster)[-1]
    settle(cluster)
    params = {"after": before, "subject": recipe}
    ((seconds,),) = cluster.log.rows(SQL["worked_off"], params)
    given_away = span_of(cluster.log, "system.scheduled", before)
    return {
        f"{name}_systems_given_away": given_away.subjects,
        f"{name}_last_given_away_seconds": round(given_away.seconds, 3),
        f"{name}_seconds": round(seconds, 3),
    }


def _granting_figures(cluster: BenchCluster, name: str, change: Callable[[Client], object]) -> Figures:
    """Return the figures of a change after which waiting recipes take the systems that changed."""
    figures = _change_figures(cluster, name, change)
    if not figures[f"{name}_systems_given_away"]:
        raise ValueError(f"{name}: no waiting recipe took any of the systems that changed")
    return figures
