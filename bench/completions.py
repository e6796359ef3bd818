"""Recipes that run are ended, many at once, as a lab would end them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx

from bench.cluster_fixture import DIRECTLY, Stand
from bench.measurements import SQL
from postgres.errors import DatabaseAway

AT_ONCE = 500
LOOK_SECONDS = 0.005
SAID = {"state": "aborted", "reason": "ended by the benchmark"}


def running(stand: Stand) -> list[tuple[int, str]]:
    """The recipes that have started and not ended, with their systems."""
    return [(recipe_id, system) for recipe_id, system in stand.log.rows(SQL["running"], ())]


def end_all(stand: Stand, recipe_ids: Sequence[int]) -> None:
    """As fast as they are taken."""
    with stand.client() as client:
        lab = client.get("/lab-controllers", limit=1)["lab_controllers"][0]["fqdn"]
        path = client.path("lab-controllers", lab, "updates")
        for first in range(0, len(recipe_ids), AT_ONCE):
            items = [
                {"progress": {"recipe_id": recipe_id, **SAID}}
                for recipe_id in recipe_ids[first : first + AT_ONCE]
            ]
            answers = client.post(path, {"items": items})["items"]
            refused = [answer for answer in answers if answer["status"] != 200]
            if refused:
                raise ValueError(f"{len(refused)} recipes were not ended: {refused[0]}")


@contextmanager
def endings(stand: Stand, rate: float) -> Iterator[None]:
    """Recipes end all the while, so that there is something to give away, whatever is answered."""
    over = threading.Event()
    recipes = _running(stand)
    headers = {"Authorization": f"Bearer {stand.token}"}

    def keep_ending() -> None:
        with httpx.Client(base_url=stand.url, headers=headers, timeout=5, **DIRECTLY) as client:
            while not over.wait(1 / rate):
                try:
                    client.post(f"/recipes/{next(recipes)}/progress", json=SAID)
                except httpx.TransportError:
                    # Another one will end.
                    continue

    thread = threading.Thread(target=keep_ending, name="endings")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _running(stand: Stand) -> Iterator[int]:
    """One after the other, and then those that run instead."""
    while True:
        try:
            yield from [recipe_id for recipe_id, _ in running(stand)]
        except DatabaseAway:
            time.sleep(LOOK_SECONDS)
