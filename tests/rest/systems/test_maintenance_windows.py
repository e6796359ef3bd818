"""Maintenance windows: what they cover and what will not be finished, and the drain by the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import People, after, cancel_set, finish, recipe_for, start, submit

PATH = "/maintenance-windows"


def at(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def window(*systems: str, starts: float = 1, ends: float = 2, **more: Any) -> dict[str, Any]:
    return {
        "reason": "new disks",
        "starts_at": at(starts),
        "ends_at": at(ends),
        **({"systems": systems} if systems else {}),
        **more,
    }


def windows_since(service: Running, position: int) -> list[str]:
    """Return the topics of the events of windows after a position."""
    topics = (event["topic"] for event in service.events(position))
    return [topic for topic in topics if topic.startswith("maintenance-window.")]


def is_draining(client: httpx.Client, fqdn: str, wanted: bool) -> None:
    wait_until(
        lambda: client.get(f"/systems/{fqdn}").json()["draining"] is wanted, f"{fqdn}: draining is {wanted}"
    )


def test_window__over_a_busy_system__says_what_will_not_be_finished_and_drains(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    fqdn, lent = machines(), machines(condition="Manual", location="hall 7")
    client.put(f"/systems/{lent}/loan", json={"user": "bob"}).raise_for_status()
    (recipe_id,) = submit(people["bob"], recipe_for(fqdn))["recipe_ids"]
    tasks = start(people["east"], recipe_id)
    before = service.end()
    asked = window(fqdn.upper(), lent, starts=0.5)
    planned = client.post(PATH, json=asked, params={"dry_run": "true"})
    assert planned.status_code == 200
    assert planned.json()["dry_run"] and planned.json()["number"] is None
    assert windows_since(service, before) == []
    keyed = {"Idempotency-Key": f"window-{fqdn}"}
    answers = [client.post(PATH, json=asked, headers=keyed) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    added = answers[0].json()
    assert added == answers[1].json()
    assert added["systems"] == [fqdn, lent]
    # The lead is the time that a recipe like that on the system may take.
    assert (added["lead_seconds"], added["state"]) == (10_800 + 2 * 1_800, "draining")
    found = added["unfinished"]
    assert [row["recipe_id"] for row in found["recipes"]] == [recipe_id]
    assert found["loans"] == [{"system": lent, "user": "bob", "until": None}]
    number = added["number"]
    # It drains at once, in its own commit, and not before it was added.
    assert added["drains_at"] == added["added_at"]
    committed = [(each["topic"], each["subject"]) for each in service.events(before)[:3]]
    assert committed == [
        ("maintenance-window.added", f"maintenance-window/{number}"),
        *(("system.drained", f"system/{name}") for name in sorted((fqdn, lent))),
    ]
    shown = client.get(f"{PATH}/{number}", params=after(answers[0])).json()
    assert {name: shown[name] for name in ("covered_systems", "unfinished")} == {
        name: added[name] for name in ("covered_systems", "unfinished")
    }
    is_draining(client, fqdn, True)
    system = client.get(f"/systems/{fqdn}").json()
    assert [each["number"] for each in system["maintenance_windows"]] == [number]
    assert client.get(f"/systems/{fqdn}", params={"as_of": before}).json()["maintenance_windows"] == []
    of_window = f"is drained by maintenance window {number}: {added['reason']};"
    undrain = {"draining": False}
    refused = client.patch(f"/systems/{lent}", json=undrain)
    assert refused.status_code == 409 and f"system {lent} {of_window}" in refused.json()["detail"]
    both = client.post("/system-changes", json={"systems": [fqdn, lent], **undrain})
    assert both.status_code == 409
    assert all(f"system {name} {of_window}" in both.json()["detail"] for name in (fqdn, lent))
    undrain["despite_maintenance"] = True
    asked_again = {"systems": [fqdn, lent], **undrain}
    preview = client.post("/system-changes", json=asked_again, params={"dry_run": "true"}).json()
    assert [row["changed"] for row in preview["systems"]] == [True, True]
    assert client.patch(f"/systems/{lent}", json=undrain).json()["changed"] is True
    finish(people["east"], recipe_id, tasks)
    ended = client.post(f"{PATH}/{number}/end", json={"reason": "done early"})
    assert ended.json()["ended"] is True
    is_draining(client, fqdn, False)
    changes = client.get(f"/systems/{fqdn}/history").json()["changes"]
    reasons = [change["reason"] for change in changes if change["topic"] == "system.undrained"]
    assert reasons == [f"maintenance window {number} is over: done early"]
    assert client.post(f"{PATH}/{number}/end", json={}).status_code == 409
    client.delete(f"/systems/{lent}/loan").raise_for_status()


def test_windows__listed__by_system_and_state_as_of_any_moment(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn, other = machines(location="hall 8"), machines(location="hall 9")
    numbers, answers = [], []
    for body in (
        window(location="hall 8", starts=48, ends=49),
        window(other),
        window(fqdn, starts=-1, ends=1),
    ):
        answers.append(client.post(PATH, json=body))
        assert answers[-1].status_code == 200, answers[-1].text
        numbers.append(answers[-1].json()["number"])

    def listed(**params: Any) -> list[int]:
        read = client.get(PATH, params={"system": fqdn, **after(answers[-1]), **params}).json()
        return [row["number"] for row in read["maintenance_windows"]]

    first, _, third = numbers
    assert listed() == [third, first]
    assert (listed(state="planned"), listed(state="open"), listed(state="ended")) == ([first], [third], [])
    then = answers[1].json()["position"]
    assert listed(as_of=then) == [first]
    page = client.get(PATH, params={"system": fqdn, "limit": 1, **after(answers[-1])}).json()
    rest = client.get(page["next"]).json()["maintenance_windows"]
    assert [row["number"] for row in rest] == [first]
    # A system that comes to the location is covered, too.
    moved = client.patch(f"/systems/{other}", json={"location": "hall 8"})
    assert listed(system=other, **after(moved)) == [numbers[1], first]
    for number in numbers:
        client.post(f"{PATH}/{number}/end", json={}).raise_for_status()


def test_window__moved__has_other_times_unless_it_is_too_late(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn = machines()
    added = client.post(PATH, json=window(fqdn, starts=24, ends=25))
    number = added.json()["number"]
    path = f"{PATH}/{number}"
    version = client.get(path, params=after(added)).headers["ETag"]
    moved = client.patch(path, json={"ends_at": at(30)}, headers={"If-Match": version})
    assert (moved.status_code, moved.json()["changed"]) == (200, True)
    assert client.patch(path, json={"ends_at": at(31)}, headers={"If-Match": version}).status_code == 412
    assert client.patch(path, json={}).json()["changed"] is False
    assert client.patch(path, json={"ends_at": at(20)}).status_code == 422
    client.patch(path, json={"starts_at": at(-1)}).raise_for_status()
    late = client.patch(path, json={"starts_at": at(1)})
    assert late.json()["detail"] == f"maintenance window {number} has started: only ends_at can be moved"
    client.patch(path, json={"ends_at": at(3)}).raise_for_status()
    client.post(f"{path}/end", json={}).raise_for_status()
    assert client.patch(path, json={"ends_at": at(4)}).status_code == 409
    assert client.get(f"{PATH}/2147483647").status_code == 404


@pytest.mark.parametrize(
    ("body", "wheres"),
    [
        ({"systems": ["no.such", "neither.such"]}, ["systems[0]", "systems[1]"]),
        ({"pool": "no-such", "ends_at": at(-3)}, ["pool", "ends_at", "ends_at"]),
        ({"location": "nowhere"}, ["body"]),
        # Its drain would begin before the first year.
        ({"location": "nowhere", "starts_at": "0001-01-01T00:00:00Z"}, ["body", "starts_at"]),
        ({}, ["body"]),
        ({"pool": "p", "systems": ["a"]}, ["body"]),
        ({"pool": "p", "lead_seconds": -1, "starts_at": "soon"}, ["lead_seconds", "starts_at"]),
    ],
)
def test_window__with_faults__is_refused_with_all_of_them(
    client: httpx.Client, service: Running, body: dict[str, Any], wheres: list[str]
) -> None:
    before = service.end()
    refused = client.post(PATH, json={**window(), **body})
    assert refused.status_code == 422
    assert sorted(fault["where"] for fault in refused.json()["errors"]) == sorted(wheres)
    assert windows_since(service, before) == []


def test_window__of_a_submitter__covers_own_systems_only(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    hall = "hall of alice and bob"
    own, others = machines(location=hall), machines(location=hall)
    client.patch(f"/systems/{others}", json={"owner": "bob"}).raise_for_status()
    refused = people["alice"].post(PATH, json=window(own, others))
    assert (refused.status_code, others in refused.json()["detail"]) == (403, True)
    assert people["alice"].delete(f"/systems/{own}").status_code == 200
    # A removed system of others neither gives nor takes a right.
    added = client.post(PATH, json=window(location=hall))
    number = added.json()["number"]
    assert added.json()["covered_systems"] == [others]
    assert people["alice"].post(f"{PATH}/{number}/end", json={}).status_code == 403
    assert people["bob"].post(f"{PATH}/{number}/end", json={}).status_code == 200
    own = machines()
    number = people["alice"].post(PATH, json=window(own)).json()["number"]
    assert people["bob"].post(f"{PATH}/{number}/end", json={}).status_code == 403
    assert people["alice"].post(f"{PATH}/{number}/end", json={}).status_code == 200


def test_window__over_the_longest_recipe__has_the_longest_lead_that_may_be_given(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    fqdn = machines()
    tasks = [{"name": f"/t{number}", "params": {"KILLTIMEOVERRIDE": "9999999"}} for number in range(220)]
    recipe = {**recipe_for(fqdn), "tasks": tasks}
    submitted = submit(people["bob"], recipe)
    start(people["east"], *submitted["recipe_ids"])
    added = client.post(PATH, json=window(fqdn))
    assert (added.status_code, added.json()["lead_seconds"]) == (200, 366 * 86_400)
    number = added.json()["number"]
    listed = client.get(PATH, params={"system": fqdn, **after(added)})
    assert [row["number"] for row in listed.json()["maintenance_windows"]] == [number]
    client.post(f"{PATH}/{number}/end", json={}).raise_for_status()
    cancel_set(client, submitted)
