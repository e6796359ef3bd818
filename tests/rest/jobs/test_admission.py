"""Dependencies and job filters of recipe sets in a running service: waiting, going on, ending."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.harness.waiting import wait_until
from tests.rest.actions import after, cancel_set, finish, in_state, recipe_for, start, submit

Job = dict[str, Any]


@pytest.fixture
def two(client: httpx.Client, machines: Callable[..., str]) -> Iterator[tuple[Job, Job]]:
    """Yield a job that runs, and one that depends on its completion and for which a system is idle."""
    first = submit(client, recipe_for(machines()))
    in_state(client, first["recipe_ids"][0], "waiting")
    depends_on = [{"job": first["job_id"], "states": ["completed"]}]
    second = submit(client, recipe_for(machines()), depends_on=depends_on)
    in_state(client, second["recipe_ids"][0], "queued")
    yield first, second
    for each in (first, second):
        cancel_set(client, each)


def held_back(client: httpx.Client, job: Job) -> list[dict[str, str]]:
    answer = client.get(f"/recipes/{job['recipe_ids'][0]}/explanation")
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, str]] = answer.json()["waiting"]["held_back"]
    return rows


def test_dependency__completes__dependent_gets_its_system(client: httpx.Client, two: tuple[Job, Job]) -> None:
    first, second = two
    reason = f"job {first['job_id']}, its dependency, has not ended"
    assert held_back(client, second) == [{"row": "dependency", "reason": reason}]
    recipe_id = first["recipe_ids"][0]
    assert finish(client, recipe_id, start(client, recipe_id)).is_success
    in_state(client, second["recipe_ids"][0], "waiting")


def test_dependency__is_cancelled__dependent_is_cancelled(client: httpx.Client, two: tuple[Job, Job]) -> None:
    first, second = two
    cancel_set(client, first)
    in_state(client, second["recipe_ids"][0], "cancelled")


def counted(client: httpx.Client, reason: str) -> int:
    counts: dict[str, int] = client.get("/overview").json()["queue"]["held_back_now"]
    return counts.get(reason, 0)


def test_job_filter__pauses_and_is_removed__set_waits_and_goes_on(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    predicate = {"field": "reason", "op": "=", "value": "paused by this test"}
    rule = {"predicate": predicate, "action": "PAUSE", "reason": "until the test goes on"}
    client.put("/filters/pause-of-a-test", json=rule).raise_for_status()
    try:
        job = submit(client, recipe_for(machines()), reasons=["paused by this test"])
        in_state(client, job["recipe_ids"][0], "queued")
        reason = 'paused by the job filter "pause-of-a-test": until the test goes on'
        assert held_back(client, job) == [{"row": "job-filter", "reason": reason}]
        # The scheduler counts every 2 s, and another thread writes every 2 s.
        wait_until(lambda: counted(client, "job-filter") >= 1, "the count")
    finally:
        client.delete("/filters/pause-of-a-test").raise_for_status()
    in_state(client, job["recipe_ids"][0], "waiting")
    wait_until(lambda: counted(client, "job-filter") == 0, "the count")
    cancel_set(client, job)


def test_paused_set__cannot_run_anywhere__is_held_back_no_more(client: httpx.Client) -> None:
    predicate = {"field": "reason", "op": "=", "value": "impossible in this test"}
    client.put("/filters/of-nowhere", json={"predicate": predicate, "action": "PAUSE"}).raise_for_status()
    try:
        job = submit(client, recipe_for("nowhere.example.com"), reasons=["impossible in this test"])
        in_state(client, job["recipe_ids"][0], "aborted")
        assert held_back(client, job) == []
    finally:
        client.delete("/filters/of-nowhere").raise_for_status()


def queued(client: httpx.Client, job: Job, **query: Any) -> Any:
    rows = client.get("/queue", params={"limit": 1000, **query}).json()["recipes"]
    (row,) = [row for row in rows if row["recipe_id"] == job["recipe_ids"][0]]
    return row["held_back"]


def test_queue_and_recipe_set__waits_for_a_dependency__say_for_which(
    client: httpx.Client, machines: Callable[..., str], two: tuple[Job, Job]
) -> None:
    first, second = two
    row = {"row": "dependency", "reason": f"job {first['job_id']}, its dependency, has not ended"}
    then = client.get(f"/recipe-sets/{second['recipe_set_id']}").json()
    assert (then["held_back"], then["job_filter"], then["buckets"]) == ([row], None, [])
    assert then["depends_on"] == [{"job": first["job_id"], "states": ["completed"]}]
    assert queued(client, second) == [row]
    placed = client.get(f"/recipe-sets/{first['recipe_set_id']}").json()
    assert (placed["held_back"], placed["depends_on"]) == ([], [])
    recipe_id = first["recipe_ids"][0]
    assert finish(client, recipe_id, start(client, recipe_id)).is_success
    in_state(client, second["recipe_ids"][0], "waiting")
    assert client.get(f"/recipe-sets/{second['recipe_set_id']}").json()["held_back"] == []
    # As of a moment of the past, too.
    past = {"as_of": then["position"]}
    assert client.get(f"/recipe-sets/{second['recipe_set_id']}", params=past).json()["held_back"] == [row]
    assert queued(client, second, **past) == [row]


def test_queue_and_recipe_set__bucket_is_full__say_which(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    reasons = ["rate-limit:1:one array", "a note"]
    first, second = (submit(client, recipe_for(machines()), reasons=reasons) for _ in range(2))
    in_state(client, first["recipe_ids"][0], "waiting")
    in_state(client, second["recipe_ids"][0], "queued")
    other = machines()
    blocker, free = (submit(client, recipe_for(other)) for _ in range(2))
    in_state(client, blocker["recipe_ids"][0], "waiting")
    shown = client.get(f"/recipe-sets/{second['recipe_set_id']}").json()
    assert shown["buckets"] == [{"limit": 1, "label": "one array"}]
    (row,) = shown["held_back"]
    assert row["row"] == "rate-limit" and row["reason"].endswith("bucket one array (1)")
    assert queued(client, second) == [row]
    assert queued(client, free) == queued(client, free, system=other) == []
    for job in (first, second, blocker, free):
        cancel_set(client, job)


def test_recipe_set__job_filters__shows_the_one_that_applies(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    job = submit(client, recipe_for(machines()), reasons=["ruled by this test"])
    in_state(client, job["recipe_ids"][0], "waiting")
    predicate = {"field": "reason", "op": "=", "value": "ruled by this test"}
    actions = {"a-continue": "CONTINUE", "b-accept": "ACCEPT", "c-pause": "PAUSE"}
    for name, action in actions.items():
        rule = {"predicate": predicate, "action": action}
        done = client.put(f"/filters/{name}", json=rule).raise_for_status()
    try:
        shown = client.get(f"/recipe-sets/{job['recipe_set_id']}", params=after(done)).json()
        assert shown["job_filter"] == {"name": "b-accept", "action": "ACCEPT"}
        assert shown["held_back"] == []
    finally:
        for name in actions:
            client.delete(f"/filters/{name}").raise_for_status()
    cancel_set(client, job)
