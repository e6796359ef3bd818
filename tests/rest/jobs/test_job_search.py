"""The search among jobs over HTTP: all filters of one request, and systems hidden from the caller."""

from __future__ import annotations

from typing import Any

import httpx

from tests.rest.actions import People, after, cancel_set, recipe_for, start, submit
from tests.rest.systems.conftest import OPEN


def found(client: httpx.Client, **query: Any) -> list[int]:
    """Return the ids of all pages."""
    page = client.get("/jobs", params=query).json()
    jobs = page["jobs"]
    while page["next"]:
        page = client.get(page["next"]).json()
        jobs += page["jobs"]
    return [job["job_id"] for job in jobs]


def test_jobs__by_each_filter_and_all_together__has_the_job_that_matches(
    client: httpx.Client, people: People, machine: str
) -> None:
    named = {"whiteboard": f"Search ÄRGER {machine}", "retention_tag": "active", "product": f"p-{machine}"}
    ids = submit(people["alice"], recipe_for(machine, tasks=[{"name": f"/search/{machine}"}]), **named)
    start(client, ids["recipe_ids"][0])
    job = client.get(f"/jobs/{ids['job_id']}").json()
    asked = after(client.patch(f"/jobs/{ids['job_id']}", json={"whiteboard": f"{named['whiteboard']} now"}))
    own: dict[str, dict[str, Any]] = {
        "whiteboard": {"whiteboard": f"search ärger {machine.upper()} NOW"},
        "product": {"product": named["product"]},
        "task": {"task": f"/search/{machine}"},
        "system": {"system": machine},
    }
    shared = {"owner": "alice", "state": "running", "result": "New", "since": job["submitted_at"]}
    for name, query in own.items():
        assert found(client, **asked, **query) == [ids["job_id"]], name
        assert found(client, **asked, **query, until=job["submitted_at"]) == [], name
    everything = {key: value for query in own.values() for key, value in query.items()} | shared
    assert found(client, **asked, **everything) == [ids["job_id"]]
    assert found(client, **asked, **{**everything, "task": "/two"}) == []
    assert found(people["alice"], **asked, **own["task"], mine=True) == [ids["job_id"]]
    assert found(people["bob"], **asked, **own["task"], mine=True) == []
    assert found(people["bob"], **asked, **own["task"], mine=True, owner="alice") == []
    before = {**own["whiteboard"], "as_of": int(asked["min_position"]) - 1}
    assert found(client, **before) == [], "its whiteboard was another one"

    hidden = {"entries": [{"permission": "view", "user": "bob"}]}
    asked = after(client.put(f"/systems/{machine}/access-policy", json=hidden))
    seen = {who: found(people[who], **asked, **own["system"]) for who in ("bob", "carol")}
    assert seen == {"bob": [ids["job_id"]], "carol": []}
    assert found(people["carol"], **asked, **own["task"]) == [ids["job_id"]]
    client.put(f"/systems/{machine}/access-policy", json=OPEN).raise_for_status()
    cancel_set(client, ids)


def test_jobs__by_a_result_that_there_is_not_or_a_backward_span__422(client: httpx.Client) -> None:
    query = {"result": "Failed", "since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}
    answer = client.get("/jobs", params={**query, "whiteboard": ""})
    assert answer.status_code == 422
    said = str(answer.json()["errors"])
    assert all(name in said for name in ("result", "until", "whiteboard"))
