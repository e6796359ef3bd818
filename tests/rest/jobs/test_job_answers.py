"""GET /jobs/{id} by `Accept`: the state of the job, or the job as XML."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import httpx
import pytest

from tests.harness.running import Running
from tests.intake.jobs import job_xml, read_xml, sample

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


def test_job__names_what_the_lab_does_not_have__is_accepted_with_warnings_and_aborted(
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


def test_original__of_a_job__is_what_was_submitted_byte_for_byte(client: httpx.Client, path: str) -> None:
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
