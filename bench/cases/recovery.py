"""Time to recover after processes are killed while recipes end and systems are allocated."""

from __future__ import annotations

import time
from functools import partial

import httpx

from bench.cases.full_lab import enable
from bench.cluster_fixture import BenchCluster
from bench.completions import endings
from bench.deployment import API, API_WORKER, POSTGRESQL, SCHEDULER, Deployment
from bench.measurements import SQL
from bench.outcome import Figures, ProgressCallback, Sizes
from bench.settling import settle, wait_until
from postgres.errors import DatabaseAway

KILLS = (SCHEDULER, API_WORKER, API, POSTGRESQL)
# Pause between kills. `up` delays the restart of a process that ran for a shorter time.
PAUSE_SECONDS = 11.0
POLL_SECONDS = 0.005
TIMEOUT_SECONDS = 60.0


def measure(cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback) -> Figures:
    """Measure from each kill to the next answered write, and to the commit of the next allocation."""
    assert isinstance(cluster, Deployment), "the case needs a supervisor that restarts the killed processes"
    enable(cluster)
    figures: dict[str, float] = {}
    with endings(cluster, sizes.rate):
        for number, part in enumerate(KILLS):
            on_progress("kills", number, len(KILLS))
            time.sleep(min(PAUSE_SECONDS, sizes.seconds))
            answered, allocated = _kill(cluster, part)
            figures |= {
                f"{part}_next_answer_seconds": round(answered, 3),
                f"{part}_next_allocation_seconds": round(allocated, 3),
            }
    settle(cluster)
    ((held_twice,),) = cluster.log.rows(SQL["held_twice"], ())
    return {**figures, "systems_with_two_recipes": held_twice}


def _kill(cluster: Deployment, part: str) -> tuple[float, float]:
    """Kill a part, and return the seconds to the next answer and to the next allocation.

    An allocation that was already under way does not count: after the death of the scheduler or its session
    only one of a later epoch counts, otherwise only one after the answer.
    """
    ((epoch,),) = cluster.log.rows(SQL["epoch"], ())
    before = cluster.log.end()
    began = time.time()
    cluster.kill(part)
    wait = partial(wait_until, timeout_seconds=TIMEOUT_SECONDS, poll_seconds=POLL_SECONDS)
    wait(lambda: _answers(cluster), f"the API does not answer after {part} was killed")
    answered = time.time()
    new_epoch = part in (SCHEDULER, POSTGRESQL)
    params = {"after": before, "since": began if new_epoch else answered, "epoch": epoch + new_epoch}
    wait(lambda: bool(_allocations(cluster, params)), f"no system is allocated after {part} was killed")
    return answered - began, _allocations(cluster, params)[0] - began


def _answers(cluster: BenchCluster) -> bool:
    """Return whether a durable write on a new connection is answered."""
    try:
        with cluster.http_client(timeout_seconds=5) as client:
            return client.put(f"/users/new-{time.time_ns()}", json={}).is_success
    except httpx.TransportError:
        return False


def _allocations(cluster: BenchCluster, params: dict[str, float]) -> list[float]:
    """Return the time of the first allocation after the kill, if there is one."""
    try:
        return [at for (at,) in cluster.log.rows(SQL["first_allocation"], params) if at is not None]
    except DatabaseAway:
        return []
