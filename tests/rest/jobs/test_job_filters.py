"""/filters: put, shown in their order, changed and removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, after, by_people, cancel_set, in_state, recipe_for, submit

SUBJECT = "partition/default"
PUT, REMOVED = (SUBJECT, "partition.job-filter-put"), (SUBJECT, "partition.job-filter-removed")
NOBODY = {"field": "user", "op": "=", "value": "nobody at all"}
FIVE = {"priority": 3, "predicate": NOBODY, "action": "RATE_LIMIT", "limit": 5, "reason": "one array"}
PAUSE = {"predicate": NOBODY, "action": "PAUSE"}


@pytest.fixture(autouse=True)
def _removed(client: httpx.Client, service: Running) -> Iterator[None]:
    """Remove all job filters: they would hold back the jobs of other tests."""
    yield
    for each in client.get("/filters", params={"min_position": service.end()}).json()["filters"]:
        client.delete(f"/filters/{each['name']}").raise_for_status()


def test_job_filter__put_changed_and_put_again__one_event_for_each_change(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    added = client.put("/filters/array", json=FIVE).json()
    assert (added["added"], added["changed"], added["limit"]) == (True, False, 5)
    equal = client.put("/filters/array", json=FIVE).json()
    assert (equal["added"], equal["changed"]) == (False, False)
    changed = client.put("/filters/array", json={**FIVE, "limit": 6}).json()
    assert (changed["added"], changed["changed"], changed["limit"]) == (False, True, 6)
    assert by_people(service, before) == [PUT, PUT]
    past = client.get("/filters/array", params={"as_of": added["position"]}).json()
    assert past["limit"] == 5
    assert client.get("/filters/array", params={"as_of": before}).status_code == 404


def test_job_filter__least_content__has_the_defaults(client: httpx.Client) -> None:
    done = client.put("/filters/idle", json={"action": "CONTINUE"})
    shown = client.get("/filters/idle", params=after(done)).json()
    assert shown.pop("watermark") >= 0
    assert shown == {
        "position": done.json()["position"],
        "name": "idle",
        "priority": 0,
        "predicate": None,
        "action": "CONTINUE",
        "limit": None,
        "reason": "",
    }


def test_watermark__of_a_new_of_an_equal_and_of_a_changed_rule__is_the_last_job(
    client: httpx.Client, machine: str
) -> None:
    first = submit(client, recipe_for(machine))
    put = client.put("/filters/new", json=PAUSE).json()
    assert put["watermark"] == first["job_id"]
    second = submit(client, recipe_for(machine))
    assert client.put("/filters/new", json=PAUSE).json()["watermark"] == first["job_id"]
    changed = client.put("/filters/new", json={**PAUSE, "reason": "audit"})
    assert changed.json()["watermark"] == second["job_id"]
    assert client.get("/filters/new", params=after(changed)).json()["watermark"] == second["job_id"]
    for submitted in (first, second):
        cancel_set(client, submitted)


def test_list__several__by_priority_then_watermark_then_name_in_pages(
    client: httpx.Client, machine: str
) -> None:
    for name, priority in (("z", 1), ("b", 0), ("a", 0)):
        client.put(f"/filters/{name}", json={**PAUSE, "priority": priority}).raise_for_status()
    cancel_set(client, submit(client, recipe_for(machine)))
    last = client.put("/filters/A", json=PAUSE)
    page = client.get("/filters", params=after(last)).json()
    assert [each["name"] for each in page["filters"]] == ["a", "b", "A", "z"]
    assert page["next"] is None
    first = client.get("/filters", params={"limit": 3}).json()
    second = client.get(first["next"]).json()
    assert [[each["name"] for each in page["filters"]] for page in (first, second)] == [
        ["a", "b", "A"],
        ["z"],
    ]
    assert second["next"] is None


def test_job_filter__removed__is_gone_and_a_repetition_changes_nothing(
    client: httpx.Client, service: Running
) -> None:
    client.put("/filters/gone", json=PAUSE).raise_for_status()
    before = service.end()
    gone = client.delete("/filters/gone")
    assert (gone.status_code, gone.json()["removed"]) == (200, True)
    assert client.get("/filters/gone", params=after(gone)).status_code == 404
    again = client.delete("/filters/gone")
    assert (again.status_code, again.json()["removed"]) == (200, False)
    never = client.delete("/filters/never")
    assert (never.status_code, never.json()["title"]) == (404, "Job filter never not found")
    assert by_people(service, before) == [REMOVED]


def test_if_match__of_another_version__is_stale_for_put_and_delete(
    client: httpx.Client, service: Running
) -> None:
    one = client.get("/filters/one", params=after(client.put("/filters/one", json=PAUSE)))
    tag = {"If-Match": one.headers["etag"]}
    # All rules of the partition have one version, since they count together.
    client.put("/filters/two", json=PAUSE).raise_for_status()
    before = service.end()
    assert client.put("/filters/one", json=FIVE, headers=tag).status_code == 412
    assert client.put("/filters/one", json=FIVE, headers=tag, params={"dry_run": "true"}).status_code == 412
    assert client.delete("/filters/one", headers=tag).status_code == 412
    tag = {"If-Match": client.get("/filters/one", params={"min_position": before}).headers["etag"]}
    assert client.put("/filters/one", json=FIVE, headers=tag).json()["changed"] is True
    assert by_people(service, before) == [PUT]


def test_dry_run__new_changed_and_equal_rule__stores_nothing(client: httpx.Client, service: Running) -> None:
    client.put("/filters/there", json=PAUSE).raise_for_status()
    before = service.end()
    for name, body, added, changed in (
        ("new", PAUSE, True, False),
        ("there", FIVE, False, True),
        ("there", PAUSE, False, False),
    ):
        answer = client.put(f"/filters/{name}", json=body, params={"dry_run": "true"}).json()
        assert (answer["added"], answer["changed"], answer["dry_run"]) == (added, changed, True)
    assert by_people(service, before) == []
    assert client.get("/filters/new").status_code == 404


def test_dry_run__sets_that_wait_and_run__says_which_would_be_held_back_and_freed(
    client: httpx.Client, people: People, machine: str
) -> None:
    running = submit(people["bob"], recipe_for(machine))
    in_state(client, running["recipe_ids"][0], "waiting")
    waiting = submit(people["bob"], recipe_for(machine))
    in_state(client, waiting["recipe_ids"][0], "queued")
    sets = [submitted["recipe_set_id"] for submitted in (running, waiting)]
    of_bob = {"predicate": {"field": "submitter", "op": "=", "value": "bob"}}

    def dry_run(**rule: Any) -> dict[str, Any]:
        answer = client.put("/filters/bobs", json={**of_bob, **rule}, params={"dry_run": "true"})
        assert answer.status_code == 200, answer.text
        effects: dict[str, Any] = answer.json()["effects"]
        return effects

    rejected = dry_run(action="REJECT", reason="no more")
    assert [rejected[count] for count in ("matching", "held_back", "freed")] == [2, 1, 0]
    common = {"owner": "bob", "priority": "Normal", "matches": True, "applies": "bobs", "before": None}
    assert rejected["recipe_sets"] == [
        {
            "recipe_set_id": number,
            "job_id": submitted["job_id"],
            **common,
            "placed": placed,
            "after": None if placed else {"effect": "cancel", "reason": "no more"},
        }
        for number, submitted, placed in zip(sets, (running, waiting), (True, False), strict=True)
    ]
    paused = client.put("/filters/bobs", json={**of_bob, "action": "PAUSE"})
    assert paused.json()["effects"] is None
    freed = dry_run(action="ACCEPT")
    assert [freed[count] for count in ("matching", "held_back", "freed")] == [2, 0, 1]
    assert freed["recipe_sets"][1]["before"]["effect"] == "wait"
    for submitted in (waiting, running):
        cancel_set(client, submitted)


DEEP: dict[str, Any] = NOBODY
for _ in range(21):
    DEEP = {"not": DEEP}
# Each with the places of its faults.
FAULTY: list[tuple[Any, list[str]]] = [
    ({}, ["action"]),
    ([], ["body"]),
    ({"action": "RATE_LIMIT"}, ["limit"]),
    ({"action": "RATE_LIMIT", "limit": 0}, ["limit"]),
    ({"action": "PAUSE", "limit": 3, "priority": -1, "colour": "red"}, ["colour", "priority", "limit"]),
    ({"action": "PAUSE", "predicate": {"field": "colour", "op": "=", "value": 1}}, ["predicate.field"]),
    ({"action": "PAUSE", "predicate": {"field": "user", "op": "~", "value": "a"}}, ["predicate.op"]),
    ({"action": "PAUSE", "predicate": {"field": "job_id", "op": "=", "value": "7"}}, ["predicate.value"]),
    ({"action": "PAUSE", "predicate": DEEP}, ["predicate" + ".not" * 20]),
    ({"action": "PAUSE", "predicate": {**NOBODY, "value": "x" * 65_536}}, ["predicate"]),
    ({"action": "PAUSE", "reason": "a\x1bb"}, ["reason"]),
    ({"action": "PAUSE", "reason": "a\u202eb"}, ["reason"]),
]


@pytest.mark.parametrize(("body", "places"), FAULTY)
def test_job_filter__wrong__422_with_every_fault_and_nothing_stored(
    client: httpx.Client, service: Running, body: Any, places: list[str]
) -> None:
    before = service.end()
    answer = client.put("/filters/wrong", json=body)
    assert answer.status_code == 422
    assert [fault["where"] for fault in answer.json()["errors"]] == places
    assert by_people(service, before) == []


@pytest.mark.parametrize("name", ["-a", "a b", "a\u00e9", "n" * 256])
def test_job_filter__name_that_is_none__422(client: httpx.Client, name: str) -> None:
    assert client.put(f"/filters/{name}", json=PAUSE).status_code == 422
    assert client.delete(f"/filters/{name}").status_code == 422


def test_job_filters__of_others__may_be_read_and_not_changed(
    client: httpx.Client, people: People, service: Running
) -> None:
    there = after(client.put("/filters/array", json=FIVE))
    before = service.end()
    for person in ("alice", "east"):
        assert people[person].get("/filters/array", params=there).json()["action"] == "RATE_LIMIT"
        assert people[person].get("/filters").status_code == 200
        assert people[person].put("/filters/array", json=PAUSE).status_code == 403
        assert people[person].delete("/filters/array").status_code == 403
    assert by_people(service, before) == []
