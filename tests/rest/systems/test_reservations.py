"""Reservations and changes of systems."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import (
    EAST,
    WEST,
    People,
    after,
    by_people,
    cancel_set,
    commands,
    happened,
    in_one_commit,
    in_state,
    recipe_for,
    start,
    submit,
    usage,
)

UNTIL = "2099-01-01T00:00:00Z"


@pytest.fixture
def manual(machines: Callable[..., str]) -> str:
    return machines(condition="Manual")


def test_reserve__manual_system__is_the_persons_until_it_is_returned(
    client: httpx.Client, people: People, manual: str, service: Running
) -> None:
    path = f"/systems/{manual}/reservation"
    answer = people["bob"].put(path, json={"until": UNTIL})
    assert (answer.status_code, answer.json()["user"], answer.json()["until"]) == (200, "bob", UNTIL)
    subject = f"system/{manual}"
    assert in_one_commit(service, answer) == [
        (subject, "system.reservation-begun"),
        (subject, "system.running"),
    ]
    shown = client.get(f"/systems/{manual}", params=after(answer)).json()
    assert (shown["user"], shown["reserved_until"], shown["usage"]) == ("bob", UNTIL, "running")
    before = service.end()
    assert people["bob"].put(path, json={"until": UNTIL}).status_code == 200
    assert by_people(service, before) == []
    returned = people["bob"].delete(path)
    assert (returned.status_code, returned.json()["returned"]) == (200, True)
    assert in_one_commit(service, returned) == [
        (subject, "system.reservation-ended"),
        (subject, "system.idle"),
    ]
    assert people["bob"].delete(path).json()["returned"] is False
    assert client.get(f"/systems/{manual}", params=after(returned)).json()["user"] is None
    people["bob"].put(path, json={}).raise_for_status()
    returned = people["bob"].delete(path, params={"reason": "seen it"})
    (change, *_) = client.get(f"/systems/{manual}/history", params=after(returned)).json()["changes"]
    assert change["reason"] == "returned by bob: seen it"


def test_reserve__system_of_another_or_for_recipes__409(
    client: httpx.Client, people: People, manual: str, machine: str
) -> None:
    assert people["bob"].put(f"/systems/{manual}/reservation", json={}).status_code == 200
    refused = people["carol"].put(f"/systems/{manual}/reservation", json={})
    assert (refused.status_code, "bob" in refused.json()["detail"]) == (409, True)
    assert people["bob"].put(f"/systems/{machine}/reservation", json={}).status_code == 409
    start(client, submit(client, recipe_for(machine))["recipe_ids"][0])
    client.patch(f"/systems/{machine}", json={"condition": "Manual"})
    assert people["bob"].put(f"/systems/{machine}/reservation", json={}).status_code == 409
    assert people["bob"].put("/systems/no.example.com/reservation", json={}).status_code == 404


def test_reserve__for_others__only_by_an_admin(
    client: httpx.Client, people: People, manual: str, service: Running
) -> None:
    path = f"/systems/{manual}/reservation"
    assert people["alice"].put(path, json={"user": "carol"}).status_code == 403
    assert client.put(path, json={"user": "carol"}).status_code == 200
    assert people["bob"].delete(path).status_code == 403
    assert people["east"].delete(path).status_code == 403
    # Alice owns the system.
    assert people["alice"].delete(path).status_code == 200


def test_reserve__everything_wrong__every_fault_named(
    client: httpx.Client, manual: str, service: Running
) -> None:
    before = service.end()
    path = f"/systems/{manual}/reservation"
    wrong = client.put(path, json={"user": "bad name", "until": "soon", "distro_tree": 0, "colour": "red"})
    assert sorted(fault["where"] for fault in wrong.json()["errors"]) == [
        *("colour", "distro_tree", "until", "user")
    ]
    unknown = {"user": "nobody", "until": "2020-01-01T00:00:00Z", "distro_tree": 999}
    answer = client.put(path, json=unknown)
    assert answer.status_code == 422
    assert [fault["where"] for fault in answer.json()["errors"]] == ["user", "until", "distro_tree"]
    assert by_people(service, before) == []


def test_reserve__tree_of_another_lab__409(client: httpx.Client, manual: str) -> None:
    tree = {"name": "Far", "family": "F", "arch": "x86_64", "urls": {"lab.west.example.com": ["http://w"]}}
    assert client.put("/distro-trees/77", json=tree).status_code == 200
    answer = client.put(f"/systems/{manual}/reservation", json={"distro_tree": 77})
    assert (answer.status_code, EAST in answer.json()["detail"]) == (409, True)
    client.delete("/distro-trees/77")
    gone = client.put(f"/systems/{manual}/reservation", json={"distro_tree": 77})
    assert (gone.status_code, gone.json()["errors"][0]["where"]) == (422, "distro_tree")


def test_reserve__tree_of_another_architecture__409(client: httpx.Client, manual: str) -> None:
    tree = {"name": "Big", "family": "F", "arch": "s390x", "urls": {EAST: ["http://e"]}}
    assert client.put("/distro-trees/78", json=tree).status_code == 200
    answer = client.put(f"/systems/{manual}/reservation", json={"distro_tree": 78})
    client.delete("/distro-trees/78")
    assert (answer.status_code, "is for s390x" in answer.json()["detail"]) == (409, True)


def test_reserve__lab_is_disabled__409(client: httpx.Client, manual: str) -> None:
    client.patch(f"/lab-controllers/{EAST}", json={"enabled": False})
    try:
        answer = client.put(f"/systems/{manual}/reservation", json={})
    finally:
        client.patch(f"/lab-controllers/{EAST}", json={"enabled": True})
    assert (answer.status_code, "is in a disabled lab" in answer.json()["detail"]) == (409, True)


def test_reserve__with_a_tree__follows_the_reports_of_the_lab(
    client: httpx.Client, people: People, manual: str, service: Running
) -> None:
    command, subject = _provision(client, people, manual), f"system/{manual}"
    assert (command["recipe_id"], command["guests"], command["tasks"]) == (None, [], [])
    assert command["distro_tree"]["id"] == 1 and command["distro_tree"]["urls"]
    assert usage(client, manual) == ("waiting", None)
    begun = _tell(people, command, "running")
    assert in_one_commit(service, begun)[1:] == [(subject, "system.installing")]
    done = _tell(people, command, "completed")
    assert in_one_commit(service, done)[1:] == [(subject, "system.running")]
    before = service.end()
    assert _tell(people, command, "completed").status_code == 200
    assert by_people(service, before) == []
    assert usage(client, manual, done) == ("running", None)
    people["bob"].delete(f"/systems/{manual}/reservation")
    kinds = wait_until(lambda: _kinds(client, manual, 2), "the release")
    assert kinds == ["provision", "release"]


def test_reserve__cannot_be_provisioned__reservation_ends_with_the_reason(
    client: httpx.Client, people: People, manual: str, service: Running
) -> None:
    command, subject = _provision(client, people, manual), f"system/{manual}"
    failed = _tell(people, command, "failed", "no power")
    assert in_one_commit(service, failed) == [
        (f"command/{command['id']}", "command.failed"),
        (subject, "system.reservation-ended"),
        (subject, "system.idle"),
    ]
    ended = next(e for e in reversed(service.events()) if e["topic"] == "system.reservation-ended")
    assert "no power" in ended["data"]["reason"]


def test_reserve__next_person__old_command_is_no_news(
    client: httpx.Client, people: People, manual: str, service: Running
) -> None:
    old = _provision(client, people, manual)
    people["bob"].delete(f"/systems/{manual}/reservation")
    path = f"/systems/{manual}/reservation"
    assert people["carol"].put(path, json={"distro_tree": 1}).status_code == 200
    answer = _tell(people, old, "failed", "too late")
    assert in_one_commit(service, answer) == [(f"command/{old['id']}", "command.failed")]
    assert client.get(f"/systems/{manual}", params=after(answer)).json()["user"] == "carol"


def test_reserve__three_people_at_once__one_has_it(people: People, manual: str, service: Running) -> None:
    path = f"/systems/{manual}/reservation"

    def reserve(name: str) -> int:
        return people[name].put(path, json={}).status_code

    with ThreadPoolExecutor(3) as pool:
        statuses = sorted(pool.map(reserve, ("alice", "bob", "carol")))
    assert statuses == [200, 409, 409]
    assert [topic for _, topic in happened(service, 0, f"system/{manual}")].count("system.running") == 1


def test_reservation__system_is_removed__ends(
    client: httpx.Client, people: People, manual: str, service: Running
) -> None:
    people["bob"].put(f"/systems/{manual}/reservation", json={})
    answer = client.delete(f"/systems/{manual}")
    assert [topic for _, topic in in_one_commit(service, answer)] == [
        *("system.condition-changed", "system.reservation-ended", "system.idle")
    ]


def _provision(client: httpx.Client, people: People, fqdn: str) -> dict[str, Any]:
    """Return the command that follows when bob reserves a system with a tree."""
    answer = people["bob"].put(f"/systems/{fqdn}/reservation", json={"distro_tree": 1})
    assert answer.status_code == 200, answer.text
    client.get("/queue", params=after(answer))
    (command,) = commands(client, EAST, fqdn)
    return command


def _tell(people: People, command: dict[str, Any], state: str, reason: str = "") -> httpx.Response:
    path = f"/lab-controllers/{EAST}/commands/{command['id']}"
    return people["east"].patch(path, json={"state": state, "reason": reason})


def _kinds(client: httpx.Client, fqdn: str, many: int) -> list[str] | None:
    kinds = [command["kind"] for command in commands(client, EAST, fqdn)]
    return kinds if len(kinds) == many else None


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
