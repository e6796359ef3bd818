"""Recipes end at a given rate: from the commit of each end to that of the next allocation of its system."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx

from api.bench.cases.full_lab import enable
from api.bench.latencies import in_milliseconds
from api.bench.measured import SQL, seconds_to_next
from api.bench.outcome import Figures, Sizes
from api.bench.settling import settle
from api.bench.stand import Stand
from api.bench.told import Told

CLIENTS = 8


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    before = enable(stand)
    wanted = int(sizes.rate * sizes.seconds)
    recipe_ids = [recipe_id for (recipe_id,) in stand.log.rows(SQL["waiting"], (before, wanted))]
    position = stand.log.end()
    late = _end_in_time(stand, recipe_ids, sizes.rate, told)
    settle(stand)
    found = seconds_to_next(stand.log, position)
    if not found:
        raise ValueError("no system was given away again: the queue has nobody left who wants one")
    return {
        **in_milliseconds(found),
        "ended": len(recipe_ids),
        "allocated_again": len(found),
        "sent_late_p99_ms": in_milliseconds(late)["p99_ms"],
    }


def _end_in_time(stand: Stand, recipe_ids: list[int], rate: float, told: Told) -> list[float]:
    """Each at its time, whether those before are answered or not; how late each was sent, in seconds."""
    began = time.monotonic()
    of_thread = threading.local()

    def end(number: int) -> float:
        if not hasattr(of_thread, "client"):
            of_thread.client = _client(stand)
        late = time.monotonic() - began - number / rate
        said = {"state": "aborted", "reason": "ended by the benchmark"}
        of_thread.client.post(f"/recipes/{recipe_ids[number]}/progress", json=said).raise_for_status()
        told("endings", number + 1, len(recipe_ids))
        return late

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(end, _paced(len(recipe_ids), began, rate)))


def _paced(count: int, began: float, rate: float) -> Iterator[int]:
    for number in range(count):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        yield number


def _client(stand: Stand) -> httpx.Client:
    headers = {"Authorization": f"Bearer {stand.token}"}
    return httpx.Client(base_url=stand.url, headers=headers, timeout=60, trust_env=False)
