"""The permission to submit: each role, grantee and policy, and its loss between submission and grant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from domain.scheduling.supply.reasons import NO_ACCESS, OF_SYSTEM
from tests.harness.waiting import wait_until
from tests.rest.actions import People, finish, in_state, recipe_for, start, submit

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
    client.delete(f"/pools/{POOL}")
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
