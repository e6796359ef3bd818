"""Answers of a server, with the fields that the command line shows."""

from __future__ import annotations

from typing import Any

RECIPE = {
    "recipe_id": 12,
    "recipe_set_id": 3,
    "job_id": 7,
    "state": "queued",
    "priority": "High",
    "owner": "alice",
}
QUEUE = {"position": 4, "recipes": [RECIPE], "next": None}
SYSTEM = {"fqdn": "a.example.com", "condition": "Broken", "pools": ["big", "small"], "recipe_id": None}


def event(position: int, **data: Any) -> dict[str, Any]:
    fields = {"position": position, "topic": "recipe.scheduled", "subject": "recipe/12", "data": data}
    return {**fields, "at": "2026-01-01T00:00:00Z", "actor": "scheduler"}
