"""Reservations of systems by people: reserve, provision, return."""

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
    People,
    after,
    by_people,
    commands,
    happened,
    in_one_commit,
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


def test_reserve__what_others_have_or_recipes_may_have__409(
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


def test_reserve__with_a_tree__follows_what_the_lab_reports(
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
