"""Answers about jobs, and the permission to submit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from domain.scheduling.supply.reasons import NO_ACCESS, OF_SYSTEM
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.intake.jobs import job_xml, read_xml, sample
from tests.rest.actions import People, finish, in_state, recipe_for, start, submit

XML = {"Content-Type": "application/xml"}
SUBMITTED = sample("guests.xml")


@pytest.fixture(scope="module")
def path(service: Running) -> Iterator[str]:
    """Yield the path of a job with guests."""
    with service.client() as admin:
        job = admin.post("/jobs", content=SUBMITTED, headers=XML).json()
        admin.get("/jobs", params={"min_position": job["position"]})
        yield f"/jobs/{job['job_id']}"
        admin.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "not needed"})


@pytest.mark.parametrize("accept", ["application/xml", "text/xml", "application/json;q=0.5, text/xml"])
def test_job__asked_for_as_xml__is_the_job_that_was_submitted(
    client: httpx.Client, path: str, accept: str
) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert answer.headers["content-type"] in accept
    assert answer.headers["vary"].split(", ")[0] == "Accept"
    assert int(answer.headers["labledger-position"]) > 0
    assert read_xml(answer.content) == read_xml(SUBMITTED)


UNKNOWN_POOL = job_xml(host='<hostRequires><pool value="no-such-pool"/></hostRequires>')


def test_job__with_names_unknown_to_the_lab__is_accepted_with_warnings_and_aborted(
    client: httpx.Client,
) -> None:
    keyed = {**XML, "Idempotency-Key": "unknown-pool"}
    answers = [client.post("/jobs", content=UNKNOWN_POOL, headers=keyed) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    (warning,) = answers[0].json()["warnings"]
    assert warning["where"].startswith("line 5") and "no-such-pool" in warning["message"]
    refused = client.post("/jobs?strict=true", content=UNKNOWN_POOL, headers=XML)
    assert (refused.status_code, len(refused.json()["errors"])) == (422, 1)
    asked = client.post("/matches", content=UNKNOWN_POOL, headers=XML).json()
    assert asked["warnings"] == answers[0].json()["warnings"]
    assert client.post("/matches?strict=true", content=UNKNOWN_POOL, headers=XML).status_code == 422


def test_original__of_a_job__equals_the_submitted_bytes(client: httpx.Client, path: str) -> None:
    answer = client.get(f"{path}/original")
    assert (answer.status_code, answer.content) == (200, SUBMITTED)
    assert answer.headers["content-type"] == "application/xml"
    (event,) = client.get("/events", params={"subject": path.strip("/").replace("jobs", "job")}).json()[
        "events"
    ]
    assert event["data"]["original_sha256"] == hashlib.sha256(SUBMITTED).hexdigest()
    assert client.get("/jobs/999999/original").status_code == 404


# No Accept header, any type, JSON among others, and a type that the service does not have.
@pytest.mark.parametrize(
    "accept", ["", "*/*", "application/*", "text/xml;q=0.1, application/json", "image/png"]
)
def test_job__asked_for_otherwise__is_json(client: httpx.Client, path: str, accept: str) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert answer.headers["content-type"] == "application/json"
    assert path == f"/jobs/{answer.json()['job_id']}"


Machines = Callable[..., str]

GROUP, POOL = "submits-there", "for-submitting"
REASON = {"reason": "the test is over"}
BOB_FOR_THEM = "bob, for his group"

# Grantee of the entry -> users who may submit; alice owns the system.
ALLOWED: dict[str, tuple[dict[str, Any] | None, set[str]]] = {
    "nobody": (None, {"alice"}),
    "a user": ({"user": "carol"}, {"alice", "carol"}),
    "a group": ({"group": GROUP}, {"alice", BOB_FOR_THEM}),
    "everybody": ({"everybody": True}, {"alice", "carol", "bob", BOB_FOR_THEM, "admin"}),
}
ASKING = ("alice", "carol", "bob", BOB_FOR_THEM, "admin")


@pytest.fixture
def group(client: httpx.Client) -> Iterator[str]:
    """Yield a group whose only member is bob."""
    client.put(f"/groups/{GROUP}", json={"members": ["bob"]}).raise_for_status()
    client.put(f"/pools/{POOL}", json={}).raise_for_status()
    yield GROUP
    client.delete(f"/pools/{POOL}", params={"force": True})
    client.delete(f"/groups/{GROUP}")


def may_submit(*entries: dict[str, Any]) -> dict[str, Any]:
    """Return a policy of submit entries. All users may view the system: hidden systems have other answers."""
    allowed = [{"permission": "submit", **entry} for entry in entries]
    return {"entries": [{"permission": "view", "everybody": True}, *allowed]}


def _of_system(client: httpx.Client, fqdn: str, *entries: dict[str, Any]) -> None:
    client.put(f"/systems/{fqdn}/access-policy", json=may_submit(*entries)).raise_for_status()


def _of_pool(client: httpx.Client, fqdn: str, *entries: dict[str, Any]) -> None:
    """Set the policy of a pool. The system's own policy lets all users submit, and must not apply."""
    own = entries and {"everybody": True}
    _of_system(client, fqdn, *([own] if own else []))
    client.put(f"/pools/{POOL}/systems/{fqdn}", json={}).raise_for_status()
    client.put(f"/pools/{POOL}/access-policy", json=may_submit(*entries)).raise_for_status()


def submit_as(client: httpx.Client, people: People, who: str, fqdn: str) -> dict[str, Any]:
    more = {"group": GROUP} if who == BOB_FOR_THEM else {}
    asking = {**people, BOB_FOR_THEM: people["bob"], "admin": client}[who]
    return submit(asking, recipe_for(fqdn), **more)


@pytest.mark.parametrize("opened", [_of_system, _of_pool])
@pytest.mark.parametrize("named", ALLOWED)
def test_submit__each_role_and_entry__waits_or_is_given_up_for_that(
    client: httpx.Client, people: People, machines: Machines, group: str, named: str, opened: Any
) -> None:
    entry, allowed = ALLOWED[named]
    fqdn = machines(condition="Manual")
    opened(client, fqdn, *([entry] if entry else []))
    jobs = {who: submit_as(client, people, who, fqdn) for who in ASKING}
    found = {who: in_state(client, job["recipe_ids"][0], "queued", "aborted") for who, job in jobs.items()}
    assert {who for who, recipe in found.items() if recipe["state"] == "queued"} == allowed
    assert {recipe["reason"] for who, recipe in found.items() if who not in allowed} <= {NO_ACCESS}
    for job in jobs.values():
        client.post(f"/jobs/{job['job_id']}/cancel", json=REASON)


def test_group__left_between_submission_and_grant__is_passed_over_until_its_owner_is_back(
    client: httpx.Client, people: People, machines: Machines, group: str
) -> None:
    fqdn = machines()
    _of_system(client, fqdn, {"group": GROUP}, {"user": "carol"})
    runs, theirs, other = (submit_as(client, people, who, fqdn) for who in ("alice", BOB_FOR_THEM, "carol"))
    tasks = start(client, runs["recipe_ids"][0])
    waiting = theirs["recipe_ids"][0]
    in_state(client, waiting, "queued")
    in_state(client, other["recipe_ids"][0], "queued")
    client.put(f"/groups/{GROUP}", json={"members": []}).raise_for_status()
    finish(client, runs["recipe_ids"][0], tasks)
    tasks = start(client, other["recipe_ids"][0])
    assert in_state(client, waiting, "queued")["system"] is None
    assert why_not(client, waiting, fqdn) == [OF_SYSTEM["access"]]
    client.put(f"/groups/{GROUP}", json={"members": ["bob"]}).raise_for_status()
    finish(client, other["recipe_ids"][0], tasks)
    assert in_state(client, waiting, "waiting")["system"] == fqdn
    client.post(f"/jobs/{theirs['job_id']}/cancel", json=REASON)


def why_not(client: httpx.Client, recipe_id: int, fqdn: str) -> list[str]:
    def reasons() -> Any:
        answer = client.get(f"/recipes/{recipe_id}/explanation", params={"system": fqdn})
        return answer.json()["waiting"]["systems"][0]["reasons"] if answer.status_code == 200 else None

    found: list[str] = wait_until(reasons, "an explanation")
    return found
