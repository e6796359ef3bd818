"""Sums of usage by the owner and group of jobs, and over time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, after, in_state, recipe_for, submit


def sums(client: httpx.Client, **asked: Any) -> dict[str | None, dict[str, Any]]:
    answer = client.get("/system-usage", params=asked)
    assert answer.status_code == 200, answer.text
    return {group["key"]: group for group in answer.json()["groups"]}


def test_system_usage__by_owner__a_reservation_is_the_persons_and_other_time_is_null(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    before = sums(client, group_by="group", as_of=client.get("/queue").json()["position"])
    position = people["bob"].put(f"/systems/{machines(condition='Manual')}/reservation", json={})
    found = sums(client, group_by="owner", **after(position))
    assert found["bob"]["seconds"]["Manual"]["running"] > 0
    assert found[None]["seconds"]["Manual"]["idle"] > 0
    # A reservation belongs to no group.
    by_group = sums(client, group_by="group", **after(position))
    assert by_group.keys() == before.keys()
    assert by_group[None]["seconds"]["Manual"]["running"] >= found["bob"]["seconds"]["Manual"]["running"]


def test_system_usage__by_owner_and_group__those_of_the_job_that_has_the_system(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    fqdn = machines()
    client.put("/groups/usage-qe", json={"members": ["alice"]})
    (recipe_id,) = submit(people["alice"], recipe_for(fqdn), group="usage-qe")["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    assert "waiting" in sums(client, group_by="owner")["alice"]["seconds"]["Automated"]
    assert "waiting" in sums(client, group_by="group")["usage-qe"]["seconds"]["Automated"]


def test_system_usage__loan_and_draining__count_for_the_borrower_and_not_as_idle(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    lent, drained = machines(condition="Manual"), machines()
    client.put(f"/systems/{lent}/loan", json={"user": "bob"}).raise_for_status()
    done = client.patch(f"/systems/{drained}", json={"draining": True, "reason": "the rack moves"})
    assert sums(client, group_by="user", **after(done))["bob"]["seconds"]["Manual"]["idle"] > 0
    position = client.get("/queue").json()["position"]
    whole = sums(client, group_by="system", as_of=position)[drained]["seconds"]["Automated"]
    intervals = client.get(f"/systems/{drained}/usage", params={"as_of": position}).json()["intervals"]
    spent: dict[str, float] = {}
    for one in intervals:
        usage = one["unavailable"] or one["usage"]
        spent[usage] = spent.get(usage, 0) + one["seconds"]
    assert intervals[-1]["unavailable"] == "draining" and intervals[-1]["usage"] == "idle"
    assert whole == pytest.approx({usage: seconds for usage, seconds in spent.items() if seconds}, abs=1e-6)


@pytest.mark.parametrize("step", ["hour", "day"])
@pytest.mark.parametrize("group_by", ["system", "lab_controller", "owner"])
def test_system_usage__with_a_step__steps_of_a_group_add_up(
    client: httpx.Client, group_by: str, step: str
) -> None:
    now = client.get("/system-usage").json()
    since = datetime.fromisoformat(now["until"]) - timedelta(hours=5)
    asked = {"since": since.isoformat(), "as_of": now["position"], "group_by": group_by}
    whole, found = sums(client, **asked), sums(client, step=step, **asked)
    assert found and found.keys() == whole.keys()
    for key, group in found.items():
        assert group["seconds"] == whole[key]["seconds"] and "steps" not in whole[key]
        assert added(group["steps"]) == pytest.approx(flat(group["seconds"]), abs=1e-6)
        ends = [(one["since"], one["until"]) for one in group["steps"]]
        assert ends == sorted(ends) and all(since < until for since, until in ends)


def added(steps: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    total: dict[tuple[str, str], float] = {}
    for step in steps:
        for key, seconds in flat(step["seconds"]).items():
            total[key] = total.get(key, 0) + seconds
    return total


def flat(seconds: dict[str, dict[str, float]]) -> dict[tuple[str, str], float]:
    return {(condition, usage): number for condition, of in seconds.items() for usage, number in of.items()}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"step": "hour", "since": "1970-01-01T00:00:00Z"}, "or step=day"),
        ({"step": "day", "since": "1970-01-01T00:00:00Z"}, "give a later `since`"),
        ({"step": "hour", "since": "2026-01-01T00:00:00Z"}, "at most 1,000"),
        ({"step": "week"}, "must be 'hour' or 'day'"),
    ],
)
def test_system_usage__too_many_steps_or_an_unknown_one__is_refused(
    client: httpx.Client, asked: dict[str, str], message: str
) -> None:
    answer = client.get("/system-usage", params=asked)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["where"] == "step" and message in fault["message"]


def test_system_usage__step_without_a_begin__begins_with_the_step_of_the_first_event(
    client: httpx.Client, service: Running
) -> None:
    whole = client.get("/system-usage").json()["groups"]
    begin = datetime.fromisoformat(service.events()[0]["recorded_at"])
    for step, zeros in (("hour", {"minute": 0}), ("day", {"minute": 0, "hour": 0})):
        found = client.get("/system-usage", params={"step": step, "as_of": service.end()}).json()
        expected = begin.replace(second=0, microsecond=0, **zeros)
        assert datetime.fromisoformat(found["since"]) == expected
        assert {group["key"] for group in found["groups"]} == {group["key"] for group in whole}
