"""A lab that has produced a value for every metric, and is then idle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.harness.databases import TestDatabase
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until

# One job at a time has the lock; others with a system wait for it.
LOCK = b'<lock level="network" kind="Exclusive"><name>vlan-12</name></lock>'
LOCKS = b'<locks xmlns="urn:labledger:job">' + LOCK + b"</locks>"
SMOKE = (SAMPLES / "kernel-smoke.xml").read_bytes().replace(b"</recipe>", LOCKS + b"</recipe>")
SET = b'<recipeSet priority="Normal">'
XML = {"Content-Type": "application/xml"}
STREAM = {"Accept": "text/event-stream"}
# Two processes serve, so that each also answers the counts of the other.
SETTINGS = {"LABLEDGER_API_WORKERS": "2", "LABLEDGER_CONSISTENCY_SECONDS": "0.2"}
# The number of machines of the sample lab that match the job: each has completed one and is placed with
# another; two more jobs are queued, one of them because it depends on a placed one.
MACHINES, QUEUED = 6, 2


@contextmanager
def busy_lab(database: TestDatabase) -> Iterator[Running]:
    with running(database, **SETTINGS) as service, service.client() as client:
        service.start("notifier")
        service.do("lab", "load", str(SAMPLES / "lab.json"))
        _finish_jobs(service, client)
        placed, *_ = _submit(client, MACHINES + QUEUED - 1)
        wait_until(lambda: jobs(client, "waiting") == MACHINES, "the first ones to be placed")
        depends_on = b'<depends-on xmlns="urn:labledger:job" job="%d"/>' % placed
        _submit(client, 1, SMOKE.replace(SET, SET + depends_on))
        wait_until(lambda: jobs(client, "queued") == QUEUED, "two jobs to be queued")
        assert client.get("/recipes/999999").status_code == 404
        with client.stream("GET", "/events", headers=STREAM) as watched:
            assert watched.status_code == 200
            yield service


def _finish_jobs(service: Running, client: httpx.Client) -> None:
    service.start("lab", "simulate", "--all", "--speed", "2000", "--seed", "1", name="lab")
    _submit(client, MACHINES)
    wait_until(lambda: jobs(client, "completed") == MACHINES, "the first jobs to be done")
    service.kill("lab")


def _submit(client: httpx.Client, number: int, content: bytes = SMOKE) -> list[int]:
    """Submit jobs; return their ids."""
    answers = [client.post("/jobs", content=content, headers=XML) for _ in range(number)]
    assert {answer.status_code for answer in answers} == {201}
    return [answer.json()["job_id"] for answer in answers]


def jobs(client: httpx.Client, state: str) -> int:
    """Return the number of jobs in a state."""
    found = client.get("/jobs", params={"limit": 1000}).json()["jobs"]
    return sum(job["state"] == state for job in found)
