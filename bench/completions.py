"""Reports that end running recipes, as a lab would send them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx

from bench.cluster_fixture import BenchCluster
from bench.measurements import SQL, in_milliseconds, seconds_to_next
from bench.outcome import ProgressCallback
from bench.settling import settle
from postgres.errors import DatabaseAway

RECIPES_PER_MESSAGE = 500
CLIENTS = 8
POLL_SECONDS = 0.005
REPORT = {"state": "aborted", "reason": "ended by the benchmark"}


def running(cluster: BenchCluster) -> list[tuple[int, str]]:
    """Return the recipes that have started and not ended, with their systems."""
    return [(recipe_id, system) for recipe_id, system in cluster.log.rows(SQL["running"], ())]


def end_all(cluster: BenchCluster, recipe_ids: Sequence[int]) -> None:
    """End all recipes as fast as the API accepts the reports."""
    with cluster.client() as client:
        lab = client.get("/lab-controllers", limit=1)["lab_controllers"][0]["fqdn"]
        path = client.path("lab-controllers", lab, "updates")
        for first in range(0, len(recipe_ids), RECIPES_PER_MESSAGE):
            items = [
                {"progress": {"recipe_id": recipe_id, **REPORT}}
                for recipe_id in recipe_ids[first : first + RECIPES_PER_MESSAGE]
            ]
            answers = client.post(path, {"items": items})["items"]
            refused = [answer for answer in answers if answer["status"] != 200]
            if refused:
                raise ValueError(f"{len(refused)} recipes were not ended: {refused[0]}")


def end_in_time(
    cluster: BenchCluster, recipe_ids: Sequence[int], rate: float, on_progress: ProgressCallback
) -> list[float]:
    """End each recipe at its time, without waiting for other responses. Return the delays in seconds."""
    began, done = time.monotonic(), itertools.count(1)

    def end(number: int) -> float:
        late = time.monotonic() - began - number / rate
        client.post(f"/recipes/{recipe_ids[number]}/progress", json=REPORT).raise_for_status()
        on_progress("endings", next(done), len(recipe_ids))
        return late

    with cluster.http_client(timeout_seconds=60) as client, ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(end, _paced(len(recipe_ids), began, rate)))


def grant_times(
    cluster: BenchCluster,
    recipe_ids: Sequence[int],
    rate: float,
    on_progress: ProgressCallback,
    *,
    pause_seconds: float | None = None,
) -> dict[str, float]:
    """End recipes at a rate, and return percentiles of the times to the next grants of their systems.

    Wait for the last grants until the scheduler has nothing left to decide, or for a pause.
    """
    position = cluster.log.end()
    end_in_time(cluster, recipe_ids, rate, on_progress)
    if pause_seconds is None:
        settle(cluster)
    else:
        time.sleep(pause_seconds)
    return in_milliseconds(seconds_to_next(cluster.log, position))


def _paced(count: int, began: float, rate: float) -> Iterator[int]:
    for number in range(count):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        yield number


@contextmanager
def endings(cluster: BenchCluster, rate: float) -> Iterator[None]:
    """End recipes at a rate within the context, to free systems all the time. Ignore failed requests."""
    stop = threading.Event()
    recipes = _running_without_end(cluster)

    def keep_ending() -> None:
        with cluster.http_client(timeout_seconds=5) as client:
            while not stop.wait(1 / rate):
                try:
                    client.post(f"/recipes/{next(recipes)}/progress", json=REPORT)
                except httpx.TransportError:
                    # The next recipe will end.
                    continue

    thread = threading.Thread(target=keep_ending, name="endings")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _running_without_end(cluster: BenchCluster) -> Iterator[int]:
    """Yield the running recipes, and query them again after the last."""
    while True:
        try:
            yield from [recipe_id for recipe_id, _ in running(cluster)]
        except DatabaseAway:
            time.sleep(POLL_SECONDS)
