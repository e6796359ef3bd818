"""`/metrics` compared with the API, and while processes stop and start."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.harness.databases import TestDatabase
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until


def scraped(client: httpx.Client, name: str, **labels: str) -> float:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = text_string_to_metric_families(answer.text)
    (found,) = (
        sample.value
        for family in families
        for sample in family.samples
        if (sample.name, sample.labels) == (f"labledger_{name}", labels)
    )
    return found


def test_metrics__systems__by_usage(client: httpx.Client) -> None:
    systems = client.get("/systems", params={"limit": 1000}).json()["systems"]
    broken = sum((one["condition"], one["usage"]) == ("Broken", "idle") for one in systems)
    assert scraped(client, "systems", condition="Broken", usage="idle") == broken > 0


def test_metrics__system_drains__is_not_idle(client: httpx.Client, machine: str) -> None:
    def systems(usage: str) -> float:
        return scraped(client, "systems", condition="Automated", usage=usage)

    idle, draining = systems("idle"), systems("draining")
    change = client.patch(f"/systems/{machine}", json={"draining": True, "reason": "moving"})
    client.get("/systems", params={"min_position": change.headers["Labledger-Position"]}).raise_for_status()
    assert (systems("idle"), systems("draining")) == (idle - 1, draining + 1)


def test_metrics__without_objects__are_0(client: httpx.Client) -> None:
    assert scraped(client, "systems", condition="Removed", usage="installing") == 0
    assert scraped(client, "conservation_violations_total", law="usage") == 0


@pytest.fixture
def alone(database: TestDatabase) -> Iterator[Running]:
    """Run a service whose processes the test may stop."""
    with running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@pytest.mark.soak
def test_metrics__scheduler_and_projector_gone_for_a_while__say_so_and_count_on(alone: Running) -> None:
    with alone.client() as client:
        _wait_read(client)
        decided = _decided(client)
        assert scraped(client, "scheduler_active", partition="default") == 1
        for name in ("scheduler", "projector"):
            alone.kill(name)
        wait_until(
            lambda: not scraped(client, "scheduler_active", partition="default"), "the lease to be free"
        )
        alone.do("submit", str(SAMPLES / "kernel-smoke.xml"))
        wait_until(lambda: scraped(client, "projector_lag_seconds", projector="all") > 0.1, "the lag to grow")
        assert scraped(client, "projector_lag_events", projector="all") > 0
        for name in ("scheduler", "projector"):
            alone.start(name)
        _wait_read(client)
        assert scraped(client, "scheduler_active", partition="default") == 1
        wait_until(lambda: _decided(client) > decided, "its decision to be counted")


def _wait_read(client: httpx.Client) -> None:
    """Wait until the scheduler has decided and the read models reflect it."""

    def is_read() -> bool:
        lag = scraped(client, "projector_lag_seconds", projector="all")
        return lag == 0 and scraped(client, "recipes", state="new") == 0 and _decided(client) > 0

    wait_until(is_read, "the read models to be at the end of the log")


def _decided(client: httpx.Client) -> float:
    kinds = ("new-job", "pending-system")
    return sum(scraped(client, "scheduler_decisions_total", trigger=kind) for kind in kinds)
