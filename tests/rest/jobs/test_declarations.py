"""POST /jobs with locks, dependencies and reasons, and with several jobs in one commit."""

from __future__ import annotations

from typing import Any

import httpx

from tests.harness.running import Running
from tests.rest.actions import in_one_commit, recipe_for, submit


def job_for(machine: str, **more: Any) -> dict[str, Any]:
    return {"recipe_sets": [{"recipes": [recipe_for(machine)]}], **more}


def event_of(client: httpx.Client, subject: str, topic: str) -> dict[str, Any]:
    events = client.get("/events", params={"subject": subject, "types": topic}).json()["events"]
    data: dict[str, Any] = events[0]["data"]
    return data


def test_job__with_declarations__events_have_ids_and_merged_locks(client: httpx.Client, machine: str) -> None:
    before = submit(client, recipe_for(machine))
    tasks = [{"name": "/labledger/network-change", "params": {"NETWORK": "vlan-9"}}]
    recipe = {**recipe_for(machine, guests=1), "tasks": tasks, "locks": {"Node": {"Shared": ["$system"]}}}
    after = submit(
        client, recipe, depends_on=[{"job": before["job_id"], "states": ["completed"]}], reasons=["a note"]
    )
    data = event_of(client, f"recipe-set/{after['recipe_set_id']}", "recipe-set.submitted")
    assert data["depends_on"] == [{"job": before["job_id"], "states": ["completed"]}]
    assert (data["reasons"], data["operations"]) == (["a note"], ["network-change"])
    assert data["profile"] == {"system": "UnknownShared", "network": {"Exclusive": ["vlan-9"]}}
    new = event_of(client, f"recipe/{after['recipe_ids'][0]}", "recipe.new")
    assert new["locks"] == {"system": {"Shared": ["$system"]}, "network": {"Exclusive": ["vlan-9"]}}


def test_job__depends_on_nothing_that_exists__refused_with_every_fault(
    client: httpx.Client, machine: str
) -> None:
    job = job_for(machine, depends_on=[{"job": 2**31 - 1}, {"recipe_set": 2**31 - 1}], reasons=[3])
    answer = client.post("/jobs", json=job)
    assert answer.status_code == 422
    assert [fault["message"] for fault in answer.json()["errors"]] == [
        "there is no job 2147483647",
        "there is no recipe set 2147483647",
        "must be text",
    ]


def test_jobs__several__are_one_commit(client: httpx.Client, machine: str, service: Running) -> None:
    jobs = [job_for(machine), job_for(machine, depends_on=[{"job": -1}])]
    answer = client.post("/jobs", json={"jobs": jobs})
    assert answer.status_code == 201, answer.text
    one, two = answer.json()["jobs"]
    assert answer.headers["location"] == f"/jobs/{one['job_id']}"
    subjects = [subject for subject, _ in in_one_commit(service, answer)]
    assert subjects == [
        *(f"job/{one['job_id']}", f"recipe-set/{one['recipe_set_ids'][0]}", f"recipe/{one['recipe_ids'][0]}"),
        *(f"job/{two['job_id']}", f"recipe-set/{two['recipe_set_ids'][0]}", f"recipe/{two['recipe_ids'][0]}"),
    ]
    data = event_of(client, f"recipe-set/{two['recipe_set_ids'][0]}", "recipe-set.submitted")
    assert data["depends_on"] == [{"job": one["job_id"], "states": ["completed", "aborted"]}]
    for job in (two, one):
        client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()


def test_jobs__one_of_several_is_wrong__none_is_stored(client: httpx.Client, machine: str) -> None:
    count = len(client.get("/jobs", params={"limit": 1000}).json()["jobs"])
    answer = client.post("/jobs", json={"jobs": [job_for(machine), job_for(machine, user="nobody")]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"].endswith(": jobs[1].user")
    assert len(client.get("/jobs", params={"limit": 1000}).json()["jobs"]) == count
