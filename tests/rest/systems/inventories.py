"""Requests to `/inventory`, for the tests."""

from __future__ import annotations

from typing import Any

import httpx

from tests.harness.running import Running

CSV = {"Content-Type": "text/csv"}


def export(client: httpx.Client, **asked: Any) -> list[dict[str, Any]]:
    answer = client.get("/inventory", params={"limit": 1000, **asked})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["systems"]
    return found


def take(client: httpx.Client, *systems: dict[str, Any], **asked: Any) -> httpx.Response:
    return client.post("/inventory", json={"systems": list(systems)}, params=asked)


def take_table(client: httpx.Client, text: str, **asked: Any) -> httpx.Response:
    return client.post("/inventory", content=text.encode(), headers=CSV, params=asked)


def counts(answer: httpx.Response) -> tuple[int, int, int]:
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return body["added"], body["changed"], body["kept"]


def exported(client: httpx.Client, fqdn: str, service: Running) -> dict[str, Any]:
    systems = export(client, min_position=service.end())
    return next(system for system in systems if system["fqdn"] == fqdn)
