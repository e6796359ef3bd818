"""Requests about open jobs and their recipe sets."""

from __future__ import annotations

from typing import Any

import httpx

from tests.rest.actions import recipe_for


def recipe_set(machine: str, **more: Any) -> dict[str, Any]:
    return {"recipes": [recipe_for(machine)], **more}


def submitted(client: httpx.Client, **document: Any) -> dict[str, Any]:
    answer = client.post("/jobs", json={"recipe_sets": [], **document})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def shown(client: httpx.Client, job_id: int, position: int) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/jobs/{job_id}", params={"min_position": position}).json()
    return found


def add(client: httpx.Client, job_id: int, *sets: dict[str, Any], **headers: str) -> httpx.Response:
    return client.post(f"/jobs/{job_id}/recipe-sets", json={"recipe_sets": [*sets]}, headers=headers)
