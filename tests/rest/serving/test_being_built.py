"""Answers while the read models are built for the first time: nothing is reported as missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from tests.harness.databases import TestDatabase
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.sessions import owner_session
from tests.harness.waiting import wait_until
from tests.workers.read_models import forget, position, project_undisturbed

XML = {"Content-Type": "application/xml"}
LAB = "lab.west.example.com"
# One path for each table of the read models.
READS = (
    *("/jobs", "/jobs/1", "/recipe-sets/1", "/recipes/1", "/queue", "/idle-pool", "/locks", "/systems"),
    *("/claims", "/claims/1", "/timeline"),
    *("/systems/store-01.west.example.com", "/systems/store-01.west.example.com/usage", "/system-usage"),
    *("/pools", "/pools/no-such-pool", "/users/admin", "/tokens", f"/lab-controllers/{LAB}/commands"),
)


@dataclass(frozen=True)
class PartlyBuilt:
    """A service whose read models have reached a position before the end of the log."""

    service: Running
    reached: int
    begun_at: int

    @property
    def detail(self) -> str:
        return f"the read models are being built: {self.reached} of {self.begun_at} events"


@contextmanager
def half_built(database: TestDatabase) -> Iterator[PartlyBuilt]:
    with running(database) as service, owner_session(database.owner_url) as owner:
        service.do("lab", "load", str(SAMPLES / "lab.json"))
        service.make_contact()
        middle = service.end()
        service.do("submit", str(SAMPLES / "kernel-smoke.xml"))
        wait_until(lambda: service.json("recipe", "1")["state"] == "waiting", "it to be placed")
        for name in ("projector", "scheduler"):
            service.kill(name)
        end = service.end()
        forget(owner)
        project_undisturbed(database.service_url, middle, page_size=1)
        made = PartlyBuilt(service, position(owner), end)
        assert middle <= made.reached < end
        with service.client() as client:
            wait_until(lambda: client.get("/queue").status_code == 503, "it to be noticed")
        yield made


@pytest.fixture(scope="module")
def half(servers: ServerPool) -> Iterator[PartlyBuilt]:
    """Run a service for all tests here, whose read models stay incomplete."""
    with servers.databases("embedded").fresh() as database, half_built(database) as made:
        yield made


@pytest.fixture
def client(half: PartlyBuilt) -> Iterator[httpx.Client]:
    with half.service.client() as client:
        yield client


@pytest.mark.parametrize("asked", [{}, {"min_position": 1}, {"min_position": 10**6}], ids=str)
def test_read__being_built__503_that_says_how_far(
    half: PartlyBuilt, client: httpx.Client, asked: dict[str, int]
) -> None:
    for path in READS:
        answer = client.get(path, params=asked)
        assert (path, answer.status_code, answer.json()["detail"]) == (path, 503, half.detail)
        assert int(answer.headers["retry-after"]) > 0


def test_read__being_built__the_past_that_is_there_is_answered(
    half: PartlyBuilt, client: httpx.Client
) -> None:
    then = client.get("/systems", params={"as_of": half.reached, "min_position": half.reached})
    assert then.status_code == 200 and len(then.json()["systems"]) > 10
    assert client.get("/systems", params={"as_of": half.begun_at}).json()["detail"] == half.detail


def test_report__being_built__command_is_not_said_to_be_unknown(
    half: PartlyBuilt, client: httpx.Client
) -> None:
    answer = client.patch(f"/lab-controllers/{LAB}/commands/1", json={"state": "running"})
    assert (answer.status_code, answer.json()["detail"]) == (503, half.detail)


def test_log_and_writes__being_built__go_on(half: PartlyBuilt, client: httpx.Client) -> None:
    assert client.get("/events").status_code == 200
    assert client.get("/events", params={"actor": "admin", "as_of": half.reached}).status_code == 200
    for headers in ({}, {"Accept": "text/event-stream"}):
        refused = client.get("/events", params={"actor": "admin"}, headers=headers)
        assert (refused.status_code, refused.json()["detail"]) == (503, half.detail)
    smoke = (SAMPLES / "kernel-smoke.xml").read_bytes()
    assert client.post("/jobs", content=smoke, headers=XML).status_code == 201
    assert client.get("/jobs").json()["detail"] == half.detail, "what came since does not count"


def test_metrics__being_built__show_the_lag_and_no_partial_values(client: httpx.Client) -> None:
    names = {line.partition("{")[0].partition(" ")[0] for line in client.get("/metrics").text.splitlines()}
    assert "labledger_projector_lag_events" in names
    assert not names & {"labledger_systems", "labledger_recipes", "labledger_recipe_wait_seconds_count"}


def test_ready__being_built__says_how_far_by_its_check(half: PartlyBuilt, client: httpx.Client) -> None:
    answer = client.get("/readyz")
    said = answer.json()["checks"]["read_models"]
    assert (answer.status_code, said["ok"], said["position"]) == (503, False, half.reached)
    assert said["detail"] == f"the read models are being built: {half.reached} of {half.begun_at} events"


def test_read__built_and_then_late__answered(half: PartlyBuilt, client: httpx.Client) -> None:
    """Build the read models: this is the last test of the service."""
    half.service.start("projector")
    wait_until(lambda: client.get("/jobs/1").status_code == 200, "them to be built")
    half.service.kill("projector")
    before = client.get("/jobs").json()["jobs"]
    smoke = (SAMPLES / "kernel-smoke.xml").read_bytes()
    assert client.post("/jobs", content=smoke, headers=XML).status_code == 201
    assert client.get("/jobs").json()["jobs"] == before
