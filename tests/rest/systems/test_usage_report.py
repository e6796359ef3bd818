"""/usage-report: unused systems, users by their time, and requirements that wait."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.rest.actions import People, cancel_set, in_state, recipe_for, submit


def report(client: httpx.Client, **asked: Any) -> dict[str, Any]:
    answer = client.get("/usage-report", params={"limit": 1000, **asked})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_usage_report__systems_used_and_not__has_the_unused_ones_the_users_and_the_waits(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    unused, used = machines(), machines()
    jobs = [submit(people["alice"], recipe_for(used)) for _ in range(3)]
    recipe_ids = [job["recipe_ids"][0] for job in jobs]
    for recipe_id, state in zip(recipe_ids, ("waiting", "queued", "queued"), strict=True):
        in_state(client, recipe_id, state)
    since = report(client)["until"]
    new = machines()
    position = client.get("/queue").json()["position"]
    found = report(client, since=since, as_of=position)

    never = {one["fqdn"]: one["last_used_at"] for one in found["unused_systems"]}
    assert never[unused] is None and not {used, new} & never.keys()
    assert report(client, since="2020-01-01T00:00:00Z", as_of=position)["unused_systems"] == []

    seconds = {one["user"]: one["seconds"] for one in found["users"]}
    assert list(seconds.values()) == sorted(seconds.values(), reverse=True)
    asked = {"group_by": "user", "since": since, "as_of": position}
    sums = {one["key"]: one["seconds"] for one in client.get("/system-usage", params=asked).json()["groups"]}
    whole = sum(sum(of_usage.values()) for of_usage in sums["alice"].values())
    assert seconds["alice"] == pytest.approx(whole, abs=1e-6) and whole > 0

    (wait,) = (one for one in found["waiting_requirements"] if one["recipe_id"] in recipe_ids)
    assert (wait["recipe_id"], wait["recipes"]) == (recipe_ids[1], 2)
    waited = datetime.fromisoformat(found["until"]) - datetime.fromisoformat(wait["since"])
    assert wait["wait_seconds"] == waited / timedelta(seconds=1) > 0
    shortest = report(client, since=since, as_of=position, limit=1)
    assert shortest["unused_systems"] == found["unused_systems"][:1]
    for job in reversed(jobs):
        cancel_set(client, job)
