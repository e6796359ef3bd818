"""Waiting until nothing is left to do: for the scheduler, and for the projector."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.cluster_fixture import Stand
from bench.measurements import SQL

# Longer nothing may take: then something is wrong.
PATIENCE_SECONDS = 900.0
LOOK_SECONDS = 0.02
# What no system is, so that the scheduler gives the job up as soon as it looks at it.
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


def settle(stand: Stand) -> None:
    """Wait until nothing is decided any more.

    That the log stands still for a while does not say so: some decisions take longer. But triggers are
    answered in log order. So a job is submitted that is given up in its turn, until nothing else has
    happened from its submission to its end.
    """
    while True:
        before = stand.log.end()
        asked = take_turn(stand)
        ((others,),) = stand.log.rows(SQL["others_after"], (before, asked))
        if not others:
            return


def take_turn(stand: Stand) -> list[str]:
    """Returns when the scheduler has given up a job that was submitted now; the subjects of that job."""
    with stand.client() as client:
        ids = client.post("/jobs", IMPOSSIBLE)
    recipe = f"recipe/{ids['recipe_ids'][0]}"
    wait_until(lambda: _is_given_up(stand, recipe), "the scheduler does not come to rest")
    return [f"job/{ids['job_id']}", f"recipe-set/{ids['recipe_set_ids'][0]}", recipe]


def wait_for_projectors(stand: Stand) -> float:
    """The seconds until the read models show the end of the log."""
    began, end = time.monotonic(), stand.log.end()
    with stand.client() as client:
        wait_until(
            lambda: client.get("/queue", limit=1)["position"] >= end, "the projector does not catch up"
        )
    return time.monotonic() - began


def wait_until(is_so: Callable[[], bool], otherwise: str, patience_seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + patience_seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(LOOK_SECONDS)


def _is_given_up(stand: Stand, recipe: str) -> bool:
    return any(recorded.event.TOPIC == "recipe.aborted" for recorded in stand.log.load({recipe: 0})[recipe])
