"""Waits until the scheduler and the projectors have nothing left to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import httpx

from bench.cluster_fixture import BenchCluster
from bench.measurements import SQL
from domain.directory.partitions import DEFAULT

# Maximum time of a wait.
TIMEOUT_SECONDS = 900.0
POLL_SECONDS = 0.02
# No system satisfies this, so the scheduler aborts the job as soon as its turn comes.
NOBODY = {"element": "hostname", "op": "=", "value": "nobody.invalid"}
IMPOSSIBLE = {
    "whiteboard": "is it my turn yet?",
    "recipe_sets": [
        {
            "recipes": [
                {"host_requires": {"and": [NOBODY]}, "distro_requires": {}, "tasks": [{"name": "/none"}]}
            ]
        }
    ],
}


def settle(cluster: BenchCluster, partitions: Sequence[str] = (DEFAULT,)) -> None:
    """Wait until these partitions have nothing left to decide.

    A pause in the log does not prove that, because some decisions take longer. But triggers are answered in
    log order. So submit a job that no system can run, again and again, until no other events are between its
    submission and its abort.
    """
    while True:
        before = cluster.log.end()
        subjects = [subject for name in partitions for subject in take_turn(cluster, name)]
        ((others,),) = cluster.log.rows(SQL["others_after"], (before, subjects))
        if not others:
            return


def take_turn(cluster: BenchCluster, partition: str = DEFAULT) -> list[str]:
    """Submit an impossible job, wait until the scheduler has aborted it, and return its subjects."""
    with cluster.client() as client:
        ids = client.post("/jobs", {**IMPOSSIBLE, "partition": partition})
    recipe = f"recipe/{ids['recipe_ids'][0]}"
    wait_until(lambda: _is_given_up(cluster, recipe), "the scheduler does not come to rest")
    return [f"job/{ids['job_id']}", f"recipe-set/{ids['recipe_set_ids'][0]}", recipe]


def wait_for_projectors(cluster: BenchCluster) -> float:
    """Wait until the read models show the end of the log, and return the seconds that took."""
    began, end = time.monotonic(), cluster.log.end()
    # Not by the client of the commands, which gives up on read models that take minutes to build.
    with cluster.http_client(TIMEOUT_SECONDS) as client:

        def is_at_end() -> bool:
            # `/queue` has weights, for which the explaining process would start and compete with the case.
            answer = client.get("/idle-pool", params={"limit": 1})
            return answer.status_code == httpx.codes.OK and answer.json()["position"] >= end

        wait_until(is_at_end, "the projector does not catch up")
    return time.monotonic() - began


def wait_until(
    condition: Callable[[], bool],
    message: str,
    timeout_seconds: float = TIMEOUT_SECONDS,
    poll_seconds: float = POLL_SECONDS,
) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(message)
        time.sleep(poll_seconds)


def _is_given_up(cluster: BenchCluster, recipe: str) -> bool:
    return any(recorded.event.TOPIC == "recipe.aborted" for recorded in cluster.log.load({recipe: 0})[recipe])
