"""PATCH and DELETE of systems: all changes are one commit, with the effects on the recipe of the system."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import (
    EAST,
    WEST,
    People,
    after,
    by_people,
    cancel_set,
    happened,
    in_one_commit,
    in_state,
    recipe_for,
    start,
    submit,
    usage,
)


def test_patch__many_things_at_once__one_commit_and_nothing_again(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    body = {"owner": "bob", "memory_mb": 32, "vendor": "ACME", "condition": "Manual", "reason": "mine"}
    answer = people["alice"].patch(f"/systems/{machine}", json={**body, "lab_controller": WEST})
    assert (answer.status_code, answer.json()["changed"]) == (200, True)
    subject = f"system/{machine}"
    assert in_one_commit(service, answer) == [
        (subject, "system.lab-controller-changed"),
        (subject, "system.owner-changed"),
        (subject, "system.inventory-changed"),
        (subject, "system.condition-changed"),
    ]
    shown = client.get(f"/systems/{machine}", params=after(answer))
    system = shown.json()
    assert (system["owner"], system["memory_mb"], system["vendor"], system["arches"]) == (
        "bob",
        32,
        "ACME",
        ["x86_64"],
    )
    assert (system["condition"], system["lab_controller"], system["draining"]) == ("Manual", WEST, False)
    before = service.end()
    assert people["bob"].patch(f"/systems/{machine}", json=body).json()["changed"] is False
    assert people["bob"].patch(f"/systems/{machine}", json={}).json()["changed"] is False
    assert by_people(service, before) == []


def test_patch__null__clears_a_property(client: httpx.Client, machine: str) -> None:
    answer = client.patch(f"/systems/{machine}", json={"memory_mb": None, "cpu": {"cores": 4}})
    system = client.get(f"/systems/{machine}", params=after(answer)).json()
    assert "memory_mb" not in system and system["cpu"] == {"cores": 4} and system["added_at"]


def test_patch__everything_wrong__every_fault_named_and_nothing_stored(
    client: httpx.Client, machine: str, service: Running
) -> None:
    before = service.end()
    wrong = {"condition": None, "owner": "bad name", "memory_mb": -1, "fqdn": "x", "draining": "yes please"}
    answer = client.patch(f"/systems/{machine}", json={**wrong, "added_at": None})
    assert answer.status_code == 422
    assert sorted(fault["where"] for fault in answer.json()["errors"]) == [
        *("added_at", "condition", "draining", "fqdn", "memory_mb", "owner")
    ]
    unknown = {"owner": "nobody", "lab_controller": "no.example.com", "pools": ["big"], "memory_mb": 1}
    answer = client.patch(f"/systems/{machine}", json=unknown)
    assert sorted(fault["where"] for fault in answer.json()["errors"]) == ["lab_controller", "owner", "pools"]
    answer = client.patch(f"/systems/{machine}", json={"reason": "of what?"})
    assert [fault["where"] for fault in answer.json()["errors"]] == ["reason"]
    assert by_people(service, before) == []


def test_patch__strangers__403_also_when_it_is_wrong(people: People, machine: str) -> None:
    for body in ({"memory_mb": 1}, {"owner": "nobody"}):
        assert people["carol"].patch(f"/systems/{machine}", json=body).status_code == 403
    assert people["east"].patch(f"/systems/{machine}", json={"memory_mb": 1}).status_code == 403
    assert people["carol"].delete(f"/systems/{machine}").status_code == 403
    assert people["alice"].patch("/systems/no.example.com", json={"memory_mb": 1}).status_code == 404


@pytest.mark.parametrize("condition", ["Broken", "Removed"])
def test_condition__recipe_runs_there__aborted_with_the_reason(
    client: httpx.Client, machine: str, service: Running, condition: str
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    start(client, recipe_id)
    answer = client.patch(f"/systems/{machine}", json={"condition": condition, "reason": "smoke"})
    assert in_one_commit(service, answer) == [
        (f"system/{machine}", "system.condition-changed"),
        (f"recipe/{recipe_id}", "recipe.aborted"),
        (f"system/{machine}", "system.idle"),
    ]
    recipe = client.get(f"/recipes/{recipe_id}", params=after(answer)).json()
    assert recipe["reason"] == f"{machine} is {condition}: smoke"


def test_condition__recipe_has_not_started__loses_the_system_and_keeps_its_place(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    free, busy = machines(), machines()
    in_state(client, submit(client, recipe_for(busy))["recipe_ids"][0], "waiting")
    submitted = submit(client, recipe_for(free), recipe_for(busy))
    holds, waits = submitted["recipe_ids"]
    in_state(client, holds, "scheduled")
    answer = client.patch(f"/systems/{free}", json={"condition": "Broken", "reason": "smoke"})
    assert in_one_commit(service, answer) == [
        (f"system/{free}", "system.condition-changed"),
        (f"recipe/{holds}", "recipe.queued"),
        (f"recipe/{waits}", "recipe.queued"),
        (f"system/{free}", "system.idle"),
    ]
    client.patch(f"/systems/{free}", json={"condition": "Automated"})
    in_state(client, holds, "scheduled")
    cancel_set(client, submitted)


def test_condition__manual__recipe_goes_on_until_it_ends(
    client: httpx.Client, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    start(client, recipe_id)
    answer = client.patch(f"/systems/{machine}", json={"condition": "Manual"})
    assert in_one_commit(service, answer) == [(f"system/{machine}", "system.condition-changed")]
    assert usage(client, machine, answer) == ("running", recipe_id)


def test_system__drained__takes_nothing_new_until_it_is_undrained(client: httpx.Client, machine: str) -> None:
    drained = client.patch(f"/systems/{machine}", json={"draining": True, "reason": "new disks"})
    assert client.get(f"/systems/{machine}", params=after(drained)).json()["draining"] is True
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    in_state(client, recipe_id, "queued")
    client.patch(f"/systems/{machine}", json={"draining": False})
    in_state(client, recipe_id, "waiting")


def test_system__removed__stays_visible_until_its_condition_changes(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    answer = people["alice"].delete(f"/systems/{machine}")
    assert (answer.status_code, answer.json()["changed"]) == (200, True)
    assert people["alice"].delete(f"/systems/{machine}").json()["changed"] is False
    gone = client.get(f"/systems/{machine}", params=after(answer)).json()
    assert (gone["condition"], gone["usage"]) == ("Removed", "idle")
    system = {"fqdn": machine, "lab_controller": EAST, "owner": "alice"}
    refused = client.post("/systems", json=system)
    assert (refused.status_code, "condition" in refused.json()["detail"]) == (409, True)
    back = client.patch(f"/systems/{machine}", json={"condition": "Automated"})
    assert in_one_commit(service, back) == [
        (f"system/{machine}", "system.condition-changed"),
        (f"system/{machine}", "system.pending"),
    ]
    assert client.delete("/systems/no.example.com").status_code == 404


def test_lab__while_a_recipe_has_the_system__409(
    client: httpx.Client, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    start(client, recipe_id)
    before = service.end()
    answer = client.patch(f"/systems/{machine}", json={"lab_controller": WEST, "memory_mb": 5})
    assert answer.status_code == 409
    assert by_people(service, before) == []


def test_two_systems_of_a_set__broken_at_once__set_holds_nothing_and_is_queued(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    """Each change alone leaves the set its other system. Concurrent changes must not leave it assigned."""
    one, two, busy = machines(), machines(), machines()
    in_state(client, submit(client, recipe_for(busy))["recipe_ids"][0], "waiting")
    submitted = submit(client, recipe_for(one), recipe_for(two), recipe_for(busy))
    recipes = submitted["recipe_ids"]
    for recipe_id in recipes[:2]:
        in_state(client, recipe_id, "scheduled")

    def break_(fqdn: str) -> int:
        with service.client() as own:
            return own.patch(f"/systems/{fqdn}", json={"condition": "Broken"}).status_code

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(break_, (one, two))) == [200, 200]
    for recipe_id in recipes:
        in_state(client, recipe_id, "queued")
    cancel_set(client, submitted)


def test_changes__twenty_at_once__all_are_made(client: httpx.Client, machine: str, service: Running) -> None:
    before = service.end()

    def change(number: int) -> int:
        with service.client() as own:
            return own.patch(f"/systems/{machine}", json={"memory_mb": 1_000 + number}).status_code

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(change, range(20))) == {200}
    changed = (f"system/{machine}", "system.inventory-changed")
    assert happened(service, before).count(changed) == 20
