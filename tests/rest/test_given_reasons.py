"""Requests that end something: they take a reason, which the log shows."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, after, rows_of

WHY = "it moves to Brno"
TREE = {"name": "T-1", "family": "T", "arch": "x86_64"}
SYSTEM = {"lab_controller": EAST, "owner": "alice", "condition": "Manual"}


class Ending(NamedTuple):
    """A request that ends something, and the event that has its reason.

    `before` makes what it ends: a token or an open job has an id, which is put into the path. `prefix` and
    `otherwise` are what the event says before a given reason, and without one.
    """

    before: tuple[tuple[str, str, dict[str, Any]], ...]
    method: str
    path: str
    topic: str
    prefix: str = ""
    otherwise: str | None = None


GONE = "/systems/gone.example.com"
OF_SYSTEM = ("POST", "/systems", {"fqdn": "gone.example.com", **SYSTEM})
BACK = ("PATCH", GONE, {"condition": "Manual"})
POOL = ("PUT", "/pools/gone", {})
PARTITION = (("PUT", "/partitions/gone", {}), ("POST", "/partitions/gone/start", {}))
CONTINUE = {"action": "CONTINUE"}
ENDINGS = [
    Ending((("PUT", "/users/gone", {}),), "DELETE", "/users/gone", "user.removed"),
    Ending((("PUT", "/groups/gone", {}),), "DELETE", "/groups/gone", "group.removed"),
    Ending((POOL,), "DELETE", "/pools/gone", "pool.removed"),
    Ending((("PUT", "/distro-trees/4713", TREE),), "DELETE", "/distro-trees/4713", "distro-tree.removed"),
    Ending((("PUT", "/filters/gone", CONTINUE),), "DELETE", "/filters/gone", "partition.job-filter-removed"),
    Ending(
        (("PUT", "/lab-controllers/gone.org", {}),),
        *("DELETE", "/lab-controllers/gone.org", "lab-controller.removed"),
    ),
    Ending(PARTITION, "POST", "/partitions/gone/drain", "partition.state-changed"),
    Ending(PARTITION, "POST", "/partitions/gone/stop", "partition.state-changed"),
    Ending(
        (*PARTITION, ("POST", "/partitions/gone/stop", {})), "DELETE", "/partitions/gone", "partition.removed"
    ),
    Ending(
        (("POST", "/tokens", {"user": "alice", "role": "submitter"}),),
        *("DELETE", "/tokens/{token_id}", "token.revoked"),
    ),
    Ending(
        (("POST", "/jobs", {"open": True}),),
        *("POST", "/jobs/{job_id}/close", "job.closed"),
        otherwise="closed",
    ),
    Ending(
        (OF_SYSTEM, BACK, POOL, ("PUT", "/pools/gone/systems/gone.example.com", {})),
        *("DELETE", "/pools/gone/systems/gone.example.com", "pool.system-removed"),
    ),
    Ending(
        (OF_SYSTEM, BACK, ("PUT", f"{GONE}/loan", {"user": "bob"})),
        *("DELETE", f"{GONE}/loan", "system.loan-ended", "ended by admin: ", "ended by admin"),
    ),
    Ending(
        (OF_SYSTEM, BACK),
        *("DELETE", GONE, "system.condition-changed", "removed by admin: ", "removed by admin"),
    ),
]


def made(client: httpx.Client, ending: Ending) -> str:
    """Make what the request ends, and return its path."""
    ids: dict[str, Any] = {}
    for method, path, body in ending.before:
        answer = client.request(method, path, json=body)
        # The one before may have left the system or the partition.
        assert answer.is_success or answer.status_code == 409, answer.text
        ids |= answer.json()
    client.get("/queue", params=after(answer)).raise_for_status()
    return ending.path.format_map(ids)


def ended(service: Running, answer: httpx.Response, topic: str) -> Any:
    """Return the reason in the event of an accepted request."""
    assert answer.status_code == 200, answer.text
    position = int(answer.headers["labledger-position"])
    (event,) = [each for each in service.events(position - 9) if each["topic"] == topic][-1:]
    assert event["commit_end"] == position
    return event["data"]["reason"]


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: f"{ending.method} {ending.path}")
def test_ending__with_and_without_a_reason__is_in_its_event(
    client: httpx.Client, service: Running, ending: Ending
) -> None:
    path = made(client, ending)
    end = service.end()
    refused = client.request(ending.method, path, params={"reason": "x" * 4_097})
    assert refused.status_code == 422, refused.text
    assert [each["where"] for each in refused.json()["errors"]] == ["reason"]
    assert service.end() == end
    done = client.request(ending.method, path, params={"reason": WHY})
    assert ended(service, done, ending.topic) == f"{ending.prefix}{WHY}"
    done = client.request(ending.method, made(client, ending))
    assert ended(service, done, ending.topic) == ending.otherwise


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_lab_controller__disabled__takes_a_reason_only_then(
    client: httpx.Client, service: Running, method: str
) -> None:
    path = "/lab-controllers/off.example.com"
    client.put(path, json={}).raise_for_status()
    for change in ({"reason": WHY}, {"reason": WHY, "enabled": True}, {"reason": "", "enabled": False}):
        refused = client.request(method, path, json=change)
        assert refused.status_code == 422, refused.text
        assert [each["where"] for each in refused.json()["errors"]] == ["reason"]
    off = client.request(method, path, json={"enabled": False, "reason": WHY})
    assert ended(service, off, "lab-controller.disabled") == WHY
    assert "reason" not in client.get(path, params=after(off)).json() | off.json()
    client.request(method, path, json={"enabled": True}).raise_for_status()
    off = client.request(method, path, json={"enabled": False})
    assert ended(service, off, "lab-controller.disabled") is None
    client.delete(path).raise_for_status()


def test_lab_controller__registered_with_a_reason__says_that_there_is_nothing_to_disable(
    client: httpx.Client,
) -> None:
    path = "/lab-controllers/never.example.com"
    refused = client.put(path, json={"enabled": False, "reason": WHY})
    (error,) = refused.json()["errors"]
    assert (refused.status_code, error["where"]) == (422, "reason")
    assert client.get(path).status_code == 404


def test_lab_controller__removed_by_force__reasons_of_its_systems_name_that_of_the_removal(
    client: httpx.Client, service: Running
) -> None:
    lab, fqdn = "forced.example.com", "forced-1.example.com"
    client.put(f"/lab-controllers/{lab}", json={}).raise_for_status()
    client.post("/systems", json={**SYSTEM, "fqdn": fqdn, "lab_controller": lab}).raise_for_status()
    done = client.delete(f"/lab-controllers/{lab}", params={"force": "true", "reason": WHY})
    assert ended(service, done, "lab-controller.removed") == WHY
    changes = client.get(f"/systems/{fqdn}/history", params=after(done)).json()
    assert f"lab controller {lab} is removed: {WHY}" in [each["reason"] for each in changes["changes"]]
    assert fqdn in [row["fqdn"] for row in rows_of(client, "systems", condition="Removed", limit=1000)]


def test_close__key_used_with_another_reason__is_refused(client: httpx.Client) -> None:
    job_id = client.post("/jobs", json={"open": True}).json()["job_id"]
    statuses = [
        client.post(
            f"/jobs/{job_id}/close", params={"reason": reason}, headers={"Idempotency-Key": f"close {job_id}"}
        ).status_code
        for reason in ("first", "first", "second")
    ]
    assert statuses == [200, 200, 422]
