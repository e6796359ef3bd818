"""What the read resources take while all systems of a lab are given away."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from threading import Event
from typing import Any

from bench.cases.full_lab import enable
from bench.cluster_fixture import Stand
from bench.latencies import in_milliseconds
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.raw_http import Wire, request
from bench.settling import wait_for_projectors

READERS = 4
# However soon it is over.
LEAST_ROUNDS = 5

Taken = dict[str, list[float]]
"""Seconds of each answer, by resource."""


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """From before the first allocation until the read models show the last: the p99 of each, and of all."""
    over, taken = Event(), defaultdict[str, list[float]](list)
    paths = _paths(stand)
    with ThreadPoolExecutor(1) as beside:
        readers = beside.submit(lambda: asyncio.run(_read_all(stand, paths, taken, over)))
        try:
            enable(stand)
            wait_for_projectors(stand)
        finally:
            over.set()
    # Who got no answer read no more: what was taken before that says nothing.
    readers.result()
    if len(taken) < len(paths):
        raise ValueError("some resources were not answered")
    every = in_milliseconds([seconds for found in taken.values() for seconds in found])
    worst = {f"{name}_p99_ms": in_milliseconds(found)["p99_ms"] for name, found in taken.items()}
    return {
        "reads": sum(map(len, taken.values())),
        "least_reads_of_a_resource": min(map(len, taken.values())),
        "p99_ms": every["p99_ms"],
        "worst_resource_p99_ms": max(worst.values()),
        **dict(sorted(worst.items())),
    }


def _paths(stand: Stand) -> Mapping[str, str]:
    """Of every read resource one that has something to say, now and as of a moment of the past."""
    with stand.client() as client:
        recipe = client.get("/queue", limit=1)["recipes"][0]["recipe_id"]
        found: dict[str, Any] = client.get(f"/recipes/{recipe}")
        system = client.get("/systems", limit=1)["systems"][0]["fqdn"]
    end = stand.log.end()
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
        "lab_controllers": "/lab-controllers",
        "distro_trees": "/distro-trees",
        "pools": "/pools",
        "events": f"/events?after={max(0, end - 100)}&limit=100",
        "events_of_recipe": f"/events?subject=recipe/{recipe}",
        "metrics": "/metrics",
    }


async def _read_all(stand: Stand, paths: Mapping[str, str], taken: Taken, over: Event) -> None:
    """Each reader goes round all resources, beginning at another."""
    names = list(paths)
    asked = {name: request("GET", path, stand.token) for name, path in paths.items()}

    async def keep_reading(first: int) -> None:
        wire = await Wire.connected(stand.url)
        for name in cycle([*names[first:], *names[:first]]):
            if over.is_set() and len(taken[name]) >= LEAST_ROUNDS:
                break
            began = time.monotonic()
            await wire.ask(asked[name])
            taken[name].append(time.monotonic() - began)
        wire.close()

    await asyncio.gather(*(keep_reading(number * len(names) // READERS) for number in range(READERS)))
