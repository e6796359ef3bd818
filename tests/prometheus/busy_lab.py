"""A lab that has produced a value for every metric, and is then idle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.harness.databases import TestDatabase
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until

SMOKE = (SAMPLES / "kernel-smoke.xml").read_bytes()
XML = {"Content-Type": "application/xml"}
STREAM = {"Accept": "text/event-stream"}
# Two processes serve, so that each also answers the counts of the other.
SETTINGS = {"LABLEDGER_API_WORKERS": "2", "LABLEDGER_CONSISTENCY_SECONDS": "0.2"}
# The number of machines of the sample lab that match the job: each has completed one and is placed with
# another; two more jobs are queued.
MACHINES, QUEUED = 6, 2


@contextmanager
def busy_lab(database: TestDatabase) -> Iterator[Running]:
    with running(database, **SETTINGS) as service, service.client() as client:
        service.do("lab", "load", str(SAMPLES / "lab.json"))
        _finish_jobs(service, client)
        _submit(client, MACHINES + QUEUED)
        wait_until(lambda: jobs(client, "queued") == QUEUED, "two jobs to be queued")
        wait_until(lambda: jobs(client, "waiting") == MACHINES, "the others to be placed")
        assert client.get("/recipes/999999").status_code == 404
        with client.stream("GET", "/events", headers=STREAM) as watched:
            assert watched.status_code == 200
            yield service


def _finish_jobs(service: Running, client: httpx.Client) -> None:
    service.start("lab", "simulate", "--all", "--speed", "2000", "--seed", "1", name="lab")
    _submit(client, MACHINES)
    wait_until(lambda: jobs(client, "completed") == MACHINES, "the first jobs to be done")
    service.kill("lab")


def _submit(client: httpx.Client, number: int) -> None:
    for _ in range(number):
        assert client.post("/jobs", content=SMOKE, headers=XML).status_code == 201


def jobs(client: httpx.Client, state: str) -> int:
    """Return the number of jobs in a state."""
    found = client.get("/jobs", params={"limit": 1000}).json()["jobs"]
    return sum(job["state"] == state for job in found)
