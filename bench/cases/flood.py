"""Grants in one partition while a lab controller of another partition reports as fast as it can."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

from api.headers import ACTS_AS
from bench.cases.full_lab import enable
from bench.cases.partitions import SECOND
from bench.cases.pending import TooSmall
from bench.cluster_fixture import BenchCluster, bench_cluster
from bench.completions import grant_times
from bench.measurements import SQL
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle
from domain.directory.partitions import DEFAULT
from runtime.settings import Settings

CLIENTS = 8
ITEMS_PER_MESSAGE = 200
# The flood begins before the first recipe ends.
LEAD_SECONDS = 1.0


class StartedRecipe(NamedTuple):
    """A recipe that has started, with its system, lab controller and partition."""

    recipe_id: int
    system: str
    lab_controller: str
    partition: str


def paced_cluster() -> AbstractContextManager[BenchCluster]:
    """Return a cluster with the pace of items that a service has by default."""
    return bench_cluster(Settings().items_per_second)


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure `pending` in `default`, first alone, then beside a flood of reports from a lab of `second`.

    During the flood a system of that lab is removed: `removal_answered_ms` is the time until the answer,
    `removal_folded_ms` that until a read shows it.
    """
    enable(cluster, (DEFAULT, SECOND))
    placed = _placed(cluster)
    wanted = int(sizes.rate * sizes.seconds)
    ending = [each.recipe_id for each in placed if each.partition == DEFAULT][: 2 * wanted]
    if len(ending) < 2 * wanted:
        raise TooSmall(f"flood: only {len(ending)} recipes run in {DEFAULT}, of {2 * wanted} that are to end")
    lab = next(each.lab_controller for each in placed if each.partition == SECOND)
    flooded = [each for each in placed if each.lab_controller == lab]
    alone = grant_times(cluster, ending[:wanted], sizes.rate, on_progress)
    before, began = cluster.log.end(), time.monotonic()
    with _flood(cluster, lab, [each.recipe_id for each in flooded[1:]]) as refused:
        time.sleep(LEAD_SECONDS)
        with ThreadPoolExecutor(1) as beside:
            removal = beside.submit(_remove, cluster, flooded[0].system)
            beside_flood = grant_times(
                cluster, ending[wanted:], sizes.rate, on_progress, pause_seconds=LEAD_SECONDS
            )
            removed = removal.result()
        seconds = time.monotonic() - began
        events = cluster.log.end() - before
    settle(cluster, (DEFAULT, SECOND))
    return {
        **{f"alone_{name}": value for name, value in alone.items()},
        **beside_flood,
        "times_slower": round(beside_flood["p99_ms"] / alone["p99_ms"], 2),
        **removed,
        "log_events_per_second": round(events / seconds),
        "messages_refused": next(refused),
    }


def _placed(cluster: BenchCluster) -> list[StartedRecipe]:
    with cluster.client() as client:
        labs = client.get("/lab-controllers", limit=1_000)["lab_controllers"]
        partition_of = {each["fqdn"]: each["partition"] for each in labs}
        lab_of = {
            each["fqdn"]: each["lab_controller"] for each in client.pages("/systems", "systems")["systems"]
        }
    return [
        StartedRecipe(recipe_id, system, lab_of[system], partition_of[lab_of[system]])
        for recipe_id, system in cluster.log.rows(SQL["running"], ())
    ]


@contextmanager
def _flood(cluster: BenchCluster, lab: str, recipe_ids: Sequence[int]) -> Iterator[Iterator[int]]:
    """Report new watchdogs of the recipes of a lab as fast as the API takes them, within the context.

    Yield an iterator, whose next item is the number of messages that were refused.
    """
    stop, numbers = threading.Event(), itertools.count(3_600)
    refused = itertools.count()

    def report(number: int) -> None:
        # Each client has recipes of its own, so that no two reports are in conflict.
        own = recipe_ids[number::CLIENTS]
        batches = [own[first : first + ITEMS_PER_MESSAGE] for first in range(0, len(own), ITEMS_PER_MESSAGE)]
        with cluster.http_client(timeout_seconds=60) as client:
            for batch in itertools.cycle(batches):
                if stop.is_set():
                    return
                seconds = next(numbers)
                items = [
                    {"progress": {"recipe_id": recipe_id, "watchdog_seconds": seconds}} for recipe_id in batch
                ]
                answer = client.post(
                    f"/lab-controllers/{lab}/updates", json={"items": items}, headers={ACTS_AS: lab}
                )
                if answer.status_code == 429:
                    next(refused)
                    stop.wait(float(answer.headers["Retry-After"]))
                else:
                    answer.raise_for_status()

    with ThreadPoolExecutor(CLIENTS) as pool:
        reporting = [pool.submit(report, number) for number in range(CLIENTS)]
        try:
            yield refused
        finally:
            stop.set()
    for each in reporting:
        each.result()


def _remove(cluster: BenchCluster, system: str) -> dict[str, float]:
    """Remove a system in use, and return the times until the answer and until a read shows it."""
    with cluster.http_client(timeout_seconds=60) as client:
        began = time.monotonic()
        answer = client.delete(f"/systems/{system}")
        answer.raise_for_status()
        answered = time.monotonic() - began
        position = answer.headers["Labledger-Position"]
        client.get("/systems", params={"min_position": position, "limit": 1}).raise_for_status()
        folded = time.monotonic() - began
    return {"removal_answered_ms": round(1000 * answered, 1), "removal_folded_ms": round(1000 * folded, 1)}
