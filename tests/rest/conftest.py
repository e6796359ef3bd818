from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until

NUMBERS = itertools.count(1)
MACHINE = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 16}


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """Run one service with the sample lab for all tests here; each test restores the lab."""
    with (
        servers.databases("embedded").fresh() as database,
        # Expired watchdogs are noticed soon.
        running(database, LABLEDGER_CONSISTENCY_SECONDS="1") as started,
    ):
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@pytest.fixture(scope="module")
def _queue_left_empty(service: Running) -> Iterator[None]:
    """Fail a file of tests that leaves recipes in the queue: the next file may need their systems."""
    yield
    with service.client() as admin:

        def recipes() -> list[int]:
            queue = admin.get("/queue", params={"min_position": service.end()}).json()
            return [row["recipe_id"] for row in queue["recipes"]]

        # Systems that a test has removed are withdrawn from their recipes a moment later.
        wait_until(lambda: not recipes(), "the queue to be empty: a test has not cancelled its jobs", 10)


@pytest.fixture
def client(service: Running, _queue_left_empty: None) -> Iterator[httpx.Client]:
    with service.client() as admin:
        yield admin


@pytest.fixture(scope="package")
def people(service: Running) -> Iterator[dict[str, httpx.Client]]:
    """Yield clients by user: the submitters alice, bob, carol, the lab controllers `east` and `west`."""
    with ExitStack() as stack:
        admin = stack.enter_context(service.client())
        asked = {name: {"user": name, "role": "submitter"} for name in ("alice", "bob", "carol")}
        for side in ("east", "west"):
            lab = f"lab.{side}.example.com"
            asked[side] = {"user": "lab-ops", "role": "lab-controller", "lab_controller": lab}
        yield {
            name: stack.enter_context(service.client(admin.post("/tokens", json=body).json()["token"]))
            for name, body in asked.items()
        }


@pytest.fixture
def auditor(client: httpx.Client) -> Iterator[dict[str, str]]:
    """Yield a token of carol's with the role auditor, which sees all systems; it is revoked afterwards."""
    made = client.post("/tokens", json={"user": "carol", "role": "auditor"}).json()
    yield made
    client.delete(f"/tokens/{made['token_id']}").raise_for_status()


@pytest.fixture
def machines(client: httpx.Client) -> Iterator[Callable[..., str]]:
    """Yield a function that adds systems of alice in the lab of the east, and remove them afterwards."""
    made: list[str] = []

    def make(**more: Any) -> str:
        fqdn = f"own-{next(NUMBERS)}.east.example.com"
        system = {"fqdn": fqdn, "lab_controller": "lab.east.example.com", "owner": "alice", **MACHINE}
        assert client.post("/systems", json={**system, **more}).status_code == 201
        made.append(fqdn)
        # The queue looks at it first.
        wait_until(lambda: client.get(f"/systems/{fqdn}").json().get("usage") == "idle", f"{fqdn} to be idle")
        return fqdn

    yield make
    for fqdn in made:
        client.delete(f"/systems/{fqdn}/reservation")
        client.delete(f"/systems/{fqdn}")


@pytest.fixture
def machine(machines: Callable[..., str]) -> str:
    return machines()


@pytest.fixture(scope="session")
def smoke() -> bytes:
    return (SAMPLES / "kernel-smoke.xml").read_bytes()
