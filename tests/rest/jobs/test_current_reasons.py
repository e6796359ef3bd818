"""The current reasons of waiting recipes: in the queue, and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from domain.scheduling.supply.reasons import NO_IDLE_SYSTEM
from domain.scheduling.supply.waiting_reasons import SENTENCES
from tests.rest.actions import in_state, recipe_for, submit

Waiting = Callable[..., int]


@pytest.fixture
def waiting(client: httpx.Client) -> Iterator[Waiting]:
    """Yield a function that submits recipes of one set until they wait; return the first. Cancel the jobs."""
    job_ids: list[int] = []

    def submitted(*fqdns: str, state: str = "queued") -> int:
        job = submit(client, *map(recipe_for, fqdns))
        job_ids.append(job["job_id"])
        for recipe_id in job["recipe_ids"]:
            in_state(client, recipe_id, state)
        first: int = job["recipe_ids"][0]
        return first

    yield submitted
    for job_id in job_ids:
        client.post(f"/jobs/{job_id}/cancel", json={"reason": "the test is over"})


def queue(client: httpx.Client, **params: Any) -> tuple[int, dict[int, Any]]:
    answer = client.get("/queue", params={"limit": 1000, "reasons": True, **params})
    assert answer.status_code == 200, answer.text
    return answer.json()["position"], {row["recipe_id"]: row["reason"] for row in answer.json()["recipes"]}


def counts(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = client.get("/queue/reasons", params=params)
    assert answer.status_code == 200, answer.text
    assert int(answer.headers["Labledger-Position"]) == answer.json()["position"]
    body: dict[str, Any] = answer.json()
    return body


def test_queue__with_reasons__has_those_of_the_explanations(
    client: httpx.Client, machines: Callable[..., str], waiting: Waiting
) -> None:
    busy, broken = machines(), machines(condition="Broken")
    waiting(busy, state="waiting")
    recipes = {
        waiting(busy): "no-idle-system",
        waiting(broken): "all-broken",
        waiting(busy, broken): "set-incomplete",
    }
    position, found = queue(client)
    assert {recipe_id: found[recipe_id]["code"] for recipe_id in recipes} == recipes
    assert queue(client, as_of=position) == (position, found)
    for recipe_id, reason in found.items():
        path = f"/recipes/{recipe_id}/explanation"
        assert client.get(path, params={"as_of": position}).json()["waiting"]["reason"] == reason
        assert client.get(path).json()["waiting"]["reason"] == reason
    of_system = queue(client, system=busy)[1]
    assert of_system == {recipe_id: reason for recipe_id, reason in found.items() if recipe_id in of_system}
    assert of_system
    plain = client.get("/queue", params={"limit": 1000}).json()["recipes"]
    assert {row["recipe_id"]: row["reason"] for row in plain} == dict.fromkeys(found)


def test_queue__system_broken_since__reason_is_the_current_one(
    client: httpx.Client, machines: Callable[..., str], waiting: Waiting
) -> None:
    fqdn = machines()
    waiting(fqdn, state="waiting")
    waits = waiting(fqdn)
    before = queue(client)[0]
    changed = client.patch(f"/systems/{fqdn}", json={"condition": "Broken", "reason": "smoke"})
    assert changed.status_code == 200, changed.text
    since = changed.json()["position"]
    assert queue(client, min_position=since)[1][waits]["code"] == "all-broken"
    assert queue(client, as_of=before)[1][waits]["code"] == "no-idle-system"
    assert client.get(f"/recipes/{waits}").json()["reason"] == NO_IDLE_SYSTEM


def test_counts__of_the_queue__are_the_sums_of_its_reasons(
    client: httpx.Client, machines: Callable[..., str], waiting: Waiting
) -> None:
    busy, broken = machines(), machines(condition="Broken")
    waiting(busy, state="waiting")
    first = waiting(busy)
    waiting(broken)
    position, found = queue(client, min_position=client.get(f"/recipes/{first}").json()["position"])
    body = counts(client, as_of=position)
    by_code = {row["code"]: row["recipes"] for row in body["reasons"]}
    assert by_code == {
        code: sum(reason["code"] == code for reason in found.values())
        for code in dict.fromkeys(reason["code"] for reason in found.values())
    }
    assert body["recipes"] == len(found) == sum(by_code.values())
    assert {row["text"] for row in body["reasons"]} == {SENTENCES[code] for code in by_code}
    assert {row["code"]: row["by_priority"] for row in body["reasons"]} == {
        code: {"Normal": count} for code, count in by_code.items()
    }
    assert body["by_priority"] == {"Normal": len(found)}
    (lab,) = {client.get(f"/systems/{fqdn}").json()["lab_controller"] for fqdn in (busy, broken)}
    assert body["lab_controllers"] == [{"name": lab, "recipes": len(found)}]
    assert body["partitions"] == [{"name": "default", "position": position}]
    assert counts(client, as_of=position, partition="default") == body
    assert counts(client, as_of=1)["reasons"] == []


def test_counts__after_a_write__reflect_it(
    client: httpx.Client, machines: Callable[..., str], waiting: Waiting
) -> None:
    fqdn = machines()
    waiting(fqdn, state="waiting")
    for number in range(1, 4):
        waits = waiting(fqdn)
        since = client.get(f"/recipes/{waits}").json()["position"]
        body = counts(client, min_position=since)
        assert body["position"] >= since
        assert body["recipes"] == number


def test_counts__of_an_unknown_partition__404(client: httpx.Client) -> None:
    assert client.get("/queue/reasons", params={"partition": "nowhere"}).status_code == 404
    assert client.get("/queue/reasons", params={"system": "a"}).status_code == 422
