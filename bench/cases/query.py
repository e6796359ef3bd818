"""Response times of the read resources while all systems of a lab are allocated."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle, repeat
from threading import Event
from typing import Any

from bench.cases.full_lab import enable
from bench.cluster_fixture import BenchCluster
from bench.measurements import in_milliseconds
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.raw_http import BenchConnection, request, request_times
from bench.reported_job import reported_job
from bench.settling import wait_for_projectors

READERS = 4
# Maximum duration of the reads of the results of a job.
MAX_RESULTS_SECONDS = 10.0
# Minimum number of reads of each resource.
MIN_ROUNDS = 5

ResponseTimes = dict[str, list[float]]
"""Resource -> seconds of each response."""


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Read from before the first allocation until the read models show the last; return percentiles.

    The results of a job are read afterwards, while nothing else happens: they are much larger.
    """
    with reading(cluster) as response_times:
        enable(cluster)
        wait_for_projectors(cluster)
    every = in_milliseconds([seconds for found in response_times.values() for seconds in found])
    worst = {f"{name}_p99_ms": in_milliseconds(found)["p99_ms"] for name, found in response_times.items()}
    return {
        "reads": sum(map(len, response_times.values())),
        "least_reads_of_a_resource": min(map(len, response_times.values())),
        "p99_ms": every["p99_ms"],
        "worst_resource_p99_ms": max(worst.values()),
        **dict(sorted(worst.items())),
        "results_of_200_p99_ms": _results(cluster, min(sizes.seconds, MAX_RESULTS_SECONDS)),
    }


@contextmanager
def reading(cluster: BenchCluster) -> Iterator[ResponseTimes]:
    """Read all resources within the context. Raises the error of a reader that stopped, and ValueError."""
    is_over, response_times = Event(), defaultdict[str, list[float]](list)
    paths = _paths(cluster)
    with ThreadPoolExecutor(1) as pool:
        readers = pool.submit(lambda: asyncio.run(_read_all(cluster, paths, response_times, is_over)))
        try:
            yield response_times
        finally:
            is_over.set()
    readers.result()
    if len(response_times) < len(paths):
        raise ValueError("some resources were not answered")


def _results(cluster: BenchCluster, seconds: float) -> float:
    """Return the p99 of the results of a job of 200 recipes with 20 results each, in milliseconds."""
    asked = request("GET", f"/jobs/{reported_job(cluster)}/results", cluster.token)
    return in_milliseconds(asyncio.run(request_times(cluster.url, 1, seconds, repeat(asked))))["p99_ms"]


def _paths(cluster: BenchCluster) -> Mapping[str, str]:
    """Return a path of every read resource, with data now and as of a past position."""
    with cluster.client() as client:
        recipe = client.get("/queue", limit=1)["recipes"][0]["recipe_id"]
        found: dict[str, Any] = client.get(f"/recipes/{recipe}")
        system = client.get("/systems", limit=1)["systems"][0]["fqdn"]
    end = cluster.log.end()
    job, recipe_set = f"/jobs/{found['job_id']}", f"/recipe-sets/{found['recipe_set_id']}"
    return {
        "queue": "/queue",
        "queue_as_of": f"/queue?as_of={end}",
        "systems": "/systems",
        "systems_as_of": f"/systems?as_of={end}",
        "system": f"/systems/{system}",
        "usage_of_system": f"/systems/{system}/usage",
        "recipe": f"/recipes/{recipe}",
        "recipe_as_of": f"/recipes/{recipe}?as_of={end}",
        "recipe_set": recipe_set,
        "jobs": "/jobs",
        "job_of_200": job,
        "job_of_200_as_of": f"{job}?as_of={end}",
        "idle_pool": "/idle-pool",
        "system_usage": "/system-usage",
        "system_usage_as_of": f"/system-usage?as_of={end}",
        "timeline": "/timeline",
        "lab_controllers": "/lab-controllers",
        "distro_trees": "/distro-trees",
        "pools": "/pools",
        "events": f"/events?after={max(0, end - 100)}&limit=100",
        "events_of_recipe": f"/events?subject=recipe/{recipe}",
        "metrics": "/metrics",
    }


async def _read_all(
    cluster: BenchCluster, paths: Mapping[str, str], response_times: ResponseTimes, is_over: Event
) -> None:
    """Run the readers; each cycles through all resources, beginning at a different one."""
    names = list(paths)
    requests = {name: request("GET", path, cluster.token) for name, path in paths.items()}

    async def keep_reading(first: int) -> None:
        connection = await BenchConnection.connected(cluster.url)
        for name in cycle([*names[first:], *names[:first]]):
            if is_over.is_set() and len(response_times[name]) >= MIN_ROUNDS:
                break
            began = time.monotonic()
            await connection.send(requests[name])
            response_times[name].append(time.monotonic() - began)
        connection.close()

    await asyncio.gather(*(keep_reading(number * len(names) // READERS) for number in range(READERS)))
