"""Jobs whose results are kept or deleted by retention tags."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.parts import Parts
from api.use_cases import retention
from api.use_cases.retention import delete_due_results, end_orphaned_deletions
from domain.events import Change
from domain.job.events import JobLogsExpired
from domain.job.retention_tags import RetentionTag
from store.event_log import EventLog
from store.requests import AppendRequest
from tests.harness.appends import STAMP, positions
from tests.harness.running import Running
from tests.in_process.api_process import ApiProcess
from tests.in_process.interposed import InterposedLog
from tests.rest.actions import People, finish, happened, in_state, recipe_for, start, submit

WHY = "the log of a rare crash"
EAST = "lab.east.example.com"
# No job of another test has this tag.
TAG = "120days"

Submitted = dict[str, Any]


@pytest.fixture
def ended(people: People, machine: str) -> Submitted:
    """Return a submitted job of one recipe, which has ended with results."""
    made = submit(people["alice"], recipe_for(machine), group="kernel-qe", retention_tag=TAG)
    (recipe_id,) = made["recipe_ids"]
    finish(people["east"], recipe_id, start(people["east"], recipe_id))
    in_state(people["east"], recipe_id, "completed")
    return made


def delete_due(service: Running, *tags: RetentionTag) -> int:
    """Delete the results of jobs that have ended, as a serving process with these tags does."""
    return in_process(service, lambda parts: delete_due_results(parts, tags))


def in_process(service: Running, step: Callable[[Parts], Awaitable[int]]) -> int:
    """Return the result of a step of a serving process that has read the whole log."""

    async def run(parts: Parts) -> int:
        await parts.reader.open()
        try:
            await parts.reader.reach(service.end(), 10)
            return await step(parts)
        finally:
            await parts.reader.close()

    url = service.database.service_url
    with closing(EventLog(url)) as log, closing(InterposedLog(url)) as appended:
        process = ApiProcess(url, log, appended, lambda: datetime.now(UTC))
        try:
            return process.ask(lambda parts, _: run(parts))
        finally:
            process.close()


def kept(client: httpx.Client, job_id: int, service: Running) -> Any:
    return client.get(f"/jobs/{job_id}", params={"min_position": service.end()}).json()["kept"]


def test_keep__by_those_who_may_change_the_job__is_shown_and_revoked(
    client: httpx.Client, people: People, ended: Submitted, service: Running
) -> None:
    path = f"/jobs/{ended['job_id']}/keep"
    before = service.end()
    keyed = {"Idempotency-Key": f"keep-{ended['job_id']}"}
    answers = [people["bob"].post(path, json={"reason": WHY}, headers=keyed) for _ in range(2)]
    assert answers[0].json() == answers[1].json() and answers[0].json()["changed"] is True
    assert {**kept(client, ended["job_id"], service), "at": None} == {"by": "bob", "at": None, "reason": WHY}
    assert people["alice"].post(path, json={"reason": "again"}).json()["changed"] is False
    assert people["carol"].post(path, json={"reason": WHY, "kept": False}).status_code == 403
    assert people["alice"].post(path, json={}).status_code == 422
    assert people["alice"].post(path, json={"reason": "old", "kept": False}).json()["changed"] is True
    assert kept(client, ended["job_id"], service) is None
    assert happened(service, before, f"job/{ended['job_id']}") == [
        (f"job/{ended['job_id']}", "job.kept"),
        (f"job/{ended['job_id']}", "job.keep-ended"),
    ]


def test_retention__tags_of_the_service__delete_nothing_without_days(client: httpx.Client) -> None:
    found = client.get("/retention").json()
    assert [(tag["name"], tag["days"], tag["due_job_count"]) for tag in found["tags"]] == [
        (name, 0, 0) for name in ("scratch", "60days", "120days", "active", "audit")
    ]
    assert found["jobs"] == []
    refused = client.get("/retention", params={"tags": "scratch"})
    assert refused.status_code == 422 and "scratch:30" in refused.text
    assert client.get("/retention", params={"tags": "scratch:1,audit:9"}).json()["jobs"] == []


def test_deletion__of_an_ended_job__is_said_at_all_moments_and_to_its_lab(
    client: httpx.Client, people: People, ended: Submitted, service: Running
) -> None:
    job_id, tag = ended["job_id"], RetentionTag(TAG, 0)
    (recipe_id,) = ended["recipe_ids"]
    path = f"/jobs/{job_id}"
    before = service.end()
    (due,) = client.get("/retention", params={"tags": f"{TAG}:0,x:1", "min_position": before}).json()["tags"][
        :1
    ]
    assert (due["days"], due["due_job_count"]) == (0, 0), "0 days are for ever"
    client.post(f"{path}/keep", json={"reason": WHY})
    # This deletes those of other tests.
    delete_due(service, tag)
    assert client.get(path, params={"min_position": service.end()}).json()["results_deleted"] is None
    client.post(f"{path}/keep", json={"reason": WHY, "kept": False})
    kept_until = service.end()
    assert delete_due(service, tag) == 1
    assert delete_due(service, tag) == 0
    assert happened(service, kept_until, path[1:].replace("jobs", "job")) == [
        (f"job/{job_id}", "job.results-deleted"),
        (f"job/{job_id}", "job.logs-expired"),
    ]

    caught = {"min_position": service.end()}
    deleted = client.get(path, params=caught).json()["results_deleted"]
    assert {name: deleted[name] for name in ("tag", "days", "position")} == {
        "tag": TAG,
        "days": 0,
        "position": kept_until + 1,
    }
    for params in ({}, {"as_of": before}):
        for of_it in (path, f"/recipes/{recipe_id}"):
            shown = client.get(f"{of_it}/results", params=params).json()
            assert shown["results_deleted"] == deleted
            assert {task["result"] for task in shown["tasks"]} == {"Pass"}
            assert [task["results"] for task in shown["tasks"]] == [[]] * len(shown["tasks"])
        recipe = client.get(f"/recipes/{recipe_id}", params=params).json()
        assert (recipe["results"], recipe["results_deleted"]) == ([], deleted)

    commands = f"/lab-controllers/{EAST}/commands"
    command = people["east"].get(commands, params={"unfinished": "true"}).json()["commands"][-1]
    shown_command = {name: command[name] for name in ("id", "kind", "system", "job_id", "recipe_ids")}
    assert shown_command == {
        "id": kept_until + 2,
        "kind": "delete-logs",
        "system": None,
        "job_id": job_id,
        "recipe_ids": [recipe_id],
    }
    assert people["east"].patch(f"{commands}/{command['id']}", json={"state": "completed"}).status_code == 200

    assert client.post(f"{path}/keep", json={"reason": WHY}).status_code == 409
    copy = people["alice"].post(f"{path}/rerun", json={}, headers={"Idempotency-Key": f"rerun-{job_id}"})
    assert copy.status_code == 201, "the document of the job is kept"
    client.post(f"/jobs/{copy.json()['job_id']}/cancel", json={"reason": "only a test"})


def expire_logs(service: Running, job_id: int, lab_controller: str) -> int:
    """Append the event of a deletion for one more lab controller, and return the id of its command."""
    subject = f"job/{job_id}"
    with closing(EventLog(service.database.service_url)) as log:
        version = log.load({subject: 0})[subject][-1].version
        change = Change(subject, JobLogsExpired(lab_controller), STAMP)
        (outcome,) = log.append([AppendRequest(f"expire/{log.end()}", (change,), {subject: version})])
    return positions(outcome)[0]


def test_deletion__of_logs_at_a_removed_lab_controller__fails_and_is_counted(
    client: httpx.Client, ended: Submitted, service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = f"lab.of-{ended['job_id']}.example.com"
    path = f"/lab-controllers/{lab}"

    def counts() -> list[list[int]]:
        found = client.get("/retention", params={"min_position": service.end()}).json()["log_deletions"]
        of_lab = [each for each in found if each["lab_controller"] == lab]
        return [[each["waiting_count"], each["failed_count"]] for each in of_lab]

    def unfinished() -> list[int]:
        params = {"unfinished": "true", "min_position": service.end()}
        commands = client.get(f"{path}/commands", params=params, headers={"Labledger-Acts-As": lab})
        return [each["id"] for each in commands.json()["commands"]]

    client.put(path, json={}).raise_for_status()
    done, lost = (expire_logs(service, ended["job_id"], lab) for _ in range(2))
    assert counts() == [[2, 0]]
    client.patch(
        f"{path}/commands/{done}", json={"state": "completed"}, headers={"Labledger-Acts-As": lab}
    ).raise_for_status()
    assert in_process(service, end_orphaned_deletions) == 0, "the lab controller is there"
    client.delete(path).raise_for_status()
    before = service.end()
    assert counts() == [[1, 0]]
    assert in_process(service, end_orphaned_deletions) == 0, "the lab controller may return"
    monkeypatch.setattr(retention, "RETURN_TIME", timedelta())
    assert in_process(service, end_orphaned_deletions) == 1
    assert in_process(service, end_orphaned_deletions) == 0
    (event,) = [each for each in service.events(before) if each["subject"] == f"command/{lost}"]
    assert (event["topic"], event["actor"]) == ("command.failed", "retention")
    assert event["data"]["reason"] == f"the lab controller {lab} was removed"
    assert counts() == [[0, 1]]
    client.put(path, json={}).raise_for_status()
    assert unfinished() == [], "a lab controller of the same name does not have the logs"
    client.delete(path).raise_for_status()
