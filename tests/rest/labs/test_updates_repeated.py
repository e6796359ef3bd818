"""A message of many items that is sent again with its Idempotency-Key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx

from tests.harness.running import Running
from tests.rest.actions import EAST, in_state, recipe_for, submit

PATH = f"/lab-controllers/{EAST}/updates"
KEY = {"Idempotency-Key": "once"}


def test_message__again_under_its_key__same_answers_and_nothing_new(
    client: httpx.Client, people: dict[str, httpx.Client], machines: Callable[..., str], service: Running
) -> None:
    one, other = machines(), machines()
    (recipe_id,) = submit(client, recipe_for(one))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    items: list[dict[str, Any]] = [
        {"progress": {"recipe_id": recipe_id, "state": "installing"}},
        {"progress": {"recipe_id": recipe_id, "watchdog_seconds": 60}},
        {"colour": "red"},
        {"progress": {"recipe_id": recipe_id, "state": "completed"}},
        {"drain": other},
        {"undrain": other},
        {"system": {"fqdn": other, "memory_mb": 77}},
        {"release": {"recipe_id": recipe_id}},
    ]
    first = people["east"].post(PATH, json={"items": items}, headers=KEY)
    assert [item["status"] for item in first.json()["items"]] == [200, 200, 422, 409, 200, 200, 200, 200]
    # The scheduler answers that a system is free.
    in_state(client, recipe_id, "aborted")
    before = [event for event in service.events() if event["actor"] == "lab-ops"]
    again = people["east"].post(PATH, json={"items": items}, headers=KEY)
    assert again.json()["items"] == first.json()["items"]
    assert [event for event in service.events() if event["actor"] == "lab-ops"] == before


def test_message__another_under_the_same_key__422(people: dict[str, httpx.Client], machine: str) -> None:
    key = {"Idempotency-Key": "twice"}
    for body, status in (([{"drain": machine}], 200), ([{"undrain": machine}], 422)):
        answer = people["east"].post(PATH, json={"items": body}, headers=key)
        assert answer.status_code == status, answer.text
    people["east"].post(PATH, json={"items": [{"undrain": machine}]})


def test_message__without_a_key__watchdog_counts_anew(
    client: httpx.Client, people: dict[str, httpx.Client], machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    items = [{"progress": {"recipe_id": recipe_id, "watchdog_seconds": 60}}]
    before = service.end()
    for _ in range(2):
        people["east"].post(PATH, json={"items": items})
    topics = [event["topic"] for event in service.events(before) if event["subject"] == f"recipe/{recipe_id}"]
    assert topics.count("recipe.watchdog-set") == 2
