"""Cancellation of jobs: queued, waiting on a system, running, and finished."""

from __future__ import annotations

from typing import Any

import httpx

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import after
from tests.rest.pinned import PINNED, XML

REASON = {"reason": "not needed any more"}


def test_cancel__placed_and_queued__end_and_the_system_is_free_again(
    client: httpx.Client, service: Running
) -> None:
    placed, queued = (_submit(client) for _ in range(2))
    wait_until(
        lambda: _state(client, placed) == "waiting" and _state(client, queued) == "queued", "both to stand"
    )
    before = service.end()
    for job in (queued, placed):
        assert _cancel(client, job).status_code == 200
        assert _state(client, job) == "cancelled"
    wait_until(lambda: "x86-08.west.example.com" in _idle(client), "the system to be idle")
    happened = [(event["topic"], event["subject"].split("/")[0]) for event in service.events(before)]
    assert happened == [
        ("recipe.cancelled", "recipe"),
        ("recipe.cancelled", "recipe"),
        ("system.pending", "system"),
        ("system.idle", "system"),
    ]


def test_cancel__again__changes_nothing(client: httpx.Client, service: Running) -> None:
    job = _submit(client)
    wait_until(lambda: _state(client, job) == "waiting", "it to be placed")
    _cancel(client, job)
    end = wait_until(lambda: _settled(service), "the system to be idle")
    assert _cancel(client, job).status_code == 200
    assert service.end() == end


def test_cancel__somebody_elses_job__403(client: httpx.Client, service: Running) -> None:
    job = _submit(client)
    token = client.post("/tokens", json={"user": "carol", "role": "submitter"}).json()["token"]
    with service.client(token) as carol:
        assert _cancel(carol, job).status_code == 403
        assert _cancel(carol, {"job_id": 999_999}).status_code == 404
    assert client.post(f"/jobs/{job['job_id']}/cancel", json={}).status_code == 422
    wait_until(lambda: _state(client, job) == "waiting", "it to be placed")
    assert _cancel(client, job).status_code == 200


def _submit(client: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/jobs", content=PINNED % b"Normal", headers=XML).json()
    return answer


def _cancel(client: httpx.Client, job: dict[str, Any]) -> httpx.Response:
    answer = client.post(f"/jobs/{job['job_id']}/cancel", json=REASON)
    if answer.status_code == 200:
        client.get("/queue", params=after(answer))
    return answer


def _state(client: httpx.Client, job: dict[str, Any]) -> str | None:
    answer = client.get(f"/jobs/{job['job_id']}")
    return str(answer.json()["state"]) if answer.status_code == 200 else None


def _idle(client: httpx.Client) -> list[str]:
    return [system["fqdn"] for system in client.get("/idle-pool").json()["systems"]]


def _settled(service: Running) -> int | None:
    last = service.events()[-1]
    return int(last["position"]) if last["topic"] == "system.idle" else None
