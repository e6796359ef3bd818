"""Recovery from database and process outages: no acknowledged write is lost or repeated, without help."""

from __future__ import annotations

import time

import pytest

from tests.harness.outage import unavailable
from tests.harness.running import SAMPLES, Running
from tests.harness.waiting import wait_until

XML = {"Content-Type": "application/xml"}


@pytest.mark.soak
def test_service__database_away__503_then_the_same_key_finds_one_job(service: Running) -> None:
    smoke = (SAMPLES / "kernel-smoke.xml").read_bytes()
    headers = {**XML, "Idempotency-Key": "while-away"}
    with service.client() as client:
        with unavailable(service.database):
            refused = client.post("/jobs", content=smoke, headers=headers)
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
            assert refused.headers["content-type"] == "application/problem+json"
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
            assert client.get("/queue").status_code in (503, 504)
        service.wait_ready()
        first = client.post("/jobs", content=smoke, headers=headers)
        again = client.post("/jobs", content=smoke, headers=headers)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        (recipe_id,) = first.json()["recipe_ids"]

        def placed() -> bool:
            answer = client.get(f"/recipes/{recipe_id}")
            return answer.status_code == 200 and answer.json()["state"] == "waiting"

        wait_until(placed, "the scheduler and the projector to continue")
    assert sum(event["topic"] == "job.submitted" for event in service.events()) == 1


@pytest.mark.soak
def test_services__killed_one_after_the_other__each_recipe_completes(service: Running) -> None:
    lab = service.start("lab", "simulate", "--speed", "2000", "--seed", "3", name="lab")
    for name in ("scheduler", "projector", "serve"):
        service.kill(name)
        service.start(name)
        service.wait_ready()
        service.labledger("submit", "--wait", str(SAMPLES / "kernel-smoke.xml"))
    assert lab.poll() is None
    topics = [event["topic"] for event in service.events()]
    assert topics.count("recipe.completed") == topics.count("recipe.scheduled") == 3


@pytest.mark.soak
def test_service__started_again__answers_from_what_is_there_at_once(service: Running) -> None:
    service.labledger("submit", str(SAMPLES / "kernel-smoke.xml"))
    service.kill("serve")
    service.start("serve")
    service.wait_ready()
    # The projector may lag.
    assert wait_until(lambda: [job["job_id"] for job in service.json("jobs")["jobs"]]) == [1]


@pytest.mark.soak
def test_services__started_while_the_database_is_away__ready_once_it_is_back(service: Running) -> None:
    services = ("serve", "scheduler", "projector")
    for name in services:
        service.kill(name)
    with unavailable(service.database):
        for name in services:
            service.start(name)
        time.sleep(3)
        assert [service.processes[name].poll() for name in services] == [None, None, None]
    service.wait_ready()
    service.labledger("submit", str(SAMPLES / "kernel-smoke.xml"))
    wait_until(lambda: service.json("recipe", "1")["state"] == "waiting", "it to be placed")
