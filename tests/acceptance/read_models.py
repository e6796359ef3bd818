"""Comparison of the read models, as the API serves them, with the log as the audit folds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import httpx

from replay.audit import EventRecord
from replay.audit.locks import locks_of
from replay.audit.world import FoldedWorld
from tests.harness.running import Running

# The states of the queue, which contains no guests.
UNPLACED = ("new", "queued", "assigned")


def assert_read_models_match_log(service: Running, records: Iterable[EventRecord]) -> FoldedWorld:
    """Compare queue, idle pool, systems and recipes at the end of the log; return the folded world."""
    world, end = FoldedWorld(), 0
    for record in records:
        world.apply(record)
        end = record.commit_end
    with service.client() as client:
        assert _ids(client, "/queue", "recipes", "recipe_id", end) == {
            recipe.recipe_id
            for recipe in world.recipes.values()
            if recipe.state in UNPLACED and not recipe.is_guest
        }
        assert _ids(client, "/idle-pool", "systems", "fqdn", end) == {
            system.fqdn
            for system in world.systems.values()
            if system.usage == "idle" and system.condition == "Automated"
            if not (system.draining or system.reserved) and world.enabled[system.lab]
        }
        shown = {row["fqdn"]: row for row in pages(client, "/systems", "systems", end)}
        for system in world.systems.values():
            row = shown[system.fqdn]
            state = row["condition"], row["usage"], row["recipe_id"], row["draining"]
            assert state == (system.condition, system.usage, system.recipe_id, system.draining), row
        for recipe in (*world.recipes.values(), *world.finished.values()):
            found = get(client, f"/recipes/{recipe.recipe_id}", end)
            held = found["locks"]["held"]
            state = found["state"], found["awaits_locks"], None if held is None else locks_of(held)
            assert state == (recipe.state, recipe.awaits_locks, recipe.held), found
    return world


def _ids(client: httpx.Client, path: str, name: str, key: str, end: int) -> set[Any]:
    return {row[key] for row in pages(client, path, name, end)}


def pages(client: httpx.Client, path: str, name: str, end: int = 0) -> list[dict[str, Any]]:
    """Return all rows of a list, at or after a position."""
    answer = client.get(path, params={"limit": 1000, "min_position": end})
    rows: list[dict[str, Any]] = []
    while True:
        assert answer.status_code == 200, answer.text
        page = answer.json()
        rows += page[name]
        if page["next"] is None:
            return rows
        answer = client.get(page["next"])


def get(client: httpx.Client, path: str, end: int = 0) -> Mapping[str, Any]:
    answer = client.get(path, params={"min_position": end})
    assert answer.status_code == 200, answer.text
    found: Mapping[str, Any] = answer.json()
    return found
