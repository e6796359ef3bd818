"""Recipes end at a given rate: from the commit of each end to that of the next allocation of its system."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx

from bench.cases.full_lab import enable
from bench.cluster_fixture import DIRECTLY, Stand
from bench.latencies import in_milliseconds
from bench.measurements import SQL, seconds_to_next
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import settle
from domain.errors import LabledgerError

CLIENTS = 8


class TooSmall(LabledgerError):
    """Of these sizes the case cannot be measured."""


def require_enough(sizes: Sizes) -> None:
    """Raises TooSmall where less runs than is to end, or less waits than is to run then."""
    wanted = int(sizes.rate * sizes.seconds)
    short = [
        f"{wanted} recipes are to end ({sizes.rate:g} a second, {sizes.seconds:g} s), but {what}"
        for size, what in (
            (sizes.systems, f"--systems {sizes.systems} run no more"),
            (sizes.queued, f"only {sizes.queued} wait (`all` begins with a hundredth of --queued)"),
        )
        if size < wanted
    ]
    if short:
        raise TooSmall(f"pending: {'; '.join(short)}")


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    before = enable(stand)
    wanted = int(sizes.rate * sizes.seconds)
    recipe_ids = [recipe_id for (recipe_id,) in stand.log.rows(SQL["waiting"], (before, wanted))]
    position = stand.log.end()
    late = _end_in_time(stand, recipe_ids, sizes.rate, told)
    settle(stand)
    found = seconds_to_next(stand.log, position)
    if not found:
        raise TooSmall(
            f"pending: none of {sizes.queued} that wait wants what came free: --filters, --queued, --systems"
        )
    return {
        **in_milliseconds(found),
        "ended": len(recipe_ids),
        "allocated_again": len(found),
        "sent_late_p99_ms": in_milliseconds(late)["p99_ms"],
    }


def _end_in_time(stand: Stand, recipe_ids: list[int], rate: float, told: Told) -> list[float]:
    """Each at its time, whether those before are answered or not; how late each was sent, in seconds."""
    began = time.monotonic()
    of_thread, done = threading.local(), itertools.count(1)

    def end(number: int) -> float:
        if not hasattr(of_thread, "client"):
            of_thread.client = _client(stand)
        late = time.monotonic() - began - number / rate
        said = {"state": "aborted", "reason": "ended by the benchmark"}
        of_thread.client.post(f"/recipes/{recipe_ids[number]}/progress", json=said).raise_for_status()
        told("endings", next(done), len(recipe_ids))
        return late

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(end, _paced(len(recipe_ids), began, rate)))


def _paced(count: int, began: float, rate: float) -> Iterator[int]:
    for number in range(count):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        yield number


def _client(stand: Stand) -> httpx.Client:
    headers = {"Authorization": f"Bearer {stand.token}"}
    return httpx.Client(base_url=stand.url, headers=headers, timeout=60, **DIRECTLY)
