"""Recipes that run are ended, many at once, as a lab would end them."""

from __future__ import annotations

from collections.abc import Sequence

from api.bench.measured import SQL
from api.bench.stand import Stand

AT_ONCE = 500


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
                {"progress": {"recipe_id": recipe_id, "state": "aborted", "reason": "ended by the benchmark"}}
                for recipe_id in recipe_ids[first : first + AT_ONCE]
            ]
            answers = client.post(path, {"items": items})["items"]
            refused = [answer for answer in answers if answer["status"] != 200]
            if refused:
                raise ValueError(f"{len(refused)} recipes were not ended: {refused[0]}")
