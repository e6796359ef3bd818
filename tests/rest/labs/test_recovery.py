"""Reports of what runs on systems, and reconciliations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import (
    EAST,
    People,
    after,
    by_people,
    commands,
    finish,
    happened,
    in_state,
    recipe_for,
    send_items,
    start,
    submit,
)

PATH = f"/lab-controllers/{EAST}/updates"


def statuses(answer: httpx.Response) -> list[int]:
    return [item["status"] for item in answer.json()["items"]]


def open_items(client: httpx.Client, answer: httpx.Response, **query: Any) -> list[dict[str, Any]]:
    shown = client.get("/reconciliations", params={**after(answer), **query})
    assert shown.status_code == 200, shown.text
    found: list[dict[str, Any]] = shown.json()["reconciliations"]
    return found


@pytest.fixture
def occupied(people: People, machine: str) -> Iterator[httpx.Response]:
    """Yield the answer to a message that something unknown runs on the machine."""
    yield send_items(people["east"], {"running": {"system": machine}})
    send_items(people["east"], {"vacant": machine})


def test_running__recipe_that_has_started_there__is_attached_and_moves_on(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    first = in_state(client, recipe_id, "waiting")["tasks"][0]["task_id"]
    runs = {"system": machine, "recipe_id": recipe_id}
    assert statuses(send_items(people["east"], {"running": runs})) == [200]
    before = service.end()
    answer = send_items(people["east"], {"running": {**runs, "state": "running", "task_id": first}})
    assert statuses(answer) == [200]
    assert client.get(f"/recipes/{recipe_id}", params=after(answer)).json()["state"] == "running"
    again = send_items(people["east"], {"running": {**runs, "attempt": 1, "state": "installing"}})
    assert statuses(again) == [200]
    assert {topic for _, topic in by_people(service, before)} == {
        *("recipe.installing", "recipe.running", "recipe.task-started"),
        *("system.installing", "system.running"),
    }
    people["east"].post(PATH, json={"items": [{"release": {"recipe_id": recipe_id}}]})


def test_running__recipe_that_has_finished__is_stopped_and_the_system_occupied_until_vacant(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    finish(people["east"], recipe_id, start(people["east"], recipe_id))
    in_state(client, recipe_id, "completed")
    answer = send_items(
        people["east"], {"running": {"system": machine, "recipe_id": recipe_id, "attempt": 1}}
    )
    reason = f"recipe {recipe_id} runs there, but is completed"
    (item,) = [each for each in open_items(client, answer) if each["system"] == machine]
    assert (item["reason"], item["recipe_id"], item["attempt"]) == (reason, recipe_id, 1)
    shown = client.get(f"/systems/{machine}").json()["occupied"]
    assert shown == {"id": item["id"], "reason": reason, "recipe_id": recipe_id, "attempt": 1}
    (stop,) = [each for each in commands(people["east"], EAST, machine) if each["kind"] == "stop"]
    assert (stop["id"], stop["recipe_id"], stop["reason"]) == (item["id"], recipe_id, reason)
    idle = client.get("/idle-pool").json()["systems"]
    assert machine not in {system["fqdn"] for system in idle}
    (waits,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    in_state(client, waits, "queued")
    why = people["alice"].get(f"/recipes/{waits}/explanation", params={"system": machine}).text
    assert f"it is occupied: {reason}" in why
    before = service.end()
    vacant = send_items(people["east"], {"vacant": machine}, {"vacant": machine})
    assert statuses(vacant) == [200, 200]
    topics = [topic for _, topic in happened(service, before, f"system/{machine}")]
    assert topics[:2] == ["system.vacated", "system.pending"]
    assert in_state(client, waits, "waiting")["system"] == machine
    assert [each for each in open_items(client, vacant) if each["system"] == machine] == []
    then = open_items(client, vacant, as_of=item["id"])
    assert item in then
    people["east"].post(PATH, json={"items": [{"release": {"recipe_id": waits}}]})


def test_running__nothing_that_has_a_name__an_admin_resolves_it_once(
    client: httpx.Client, people: People, machine: str, occupied: httpx.Response
) -> None:
    (item,) = [each for each in open_items(client, occupied) if each["system"] == machine]
    assert (item["recipe_id"], item["attempt"], item["lab_controller"]) == (None, None, EAST)
    assert [each["kind"] for each in commands(people["east"], EAST, machine)] == []
    path, reason = f"/reconciliations/{item['id']}/resolve", {"reason": "the power was off"}
    assert people["alice"].post(path, json=reason).status_code == 403
    answers = [client.post(path, json=reason) for _ in range(2)]
    assert [answer.json()["resolved"] for answer in answers] == [True, False]
    assert client.get(f"/systems/{machine}", params=after(answers[0])).json()["occupied"] is None
    for unknown in (2**40, 2**63 - 1, 2**70, item["id"] - 1):
        assert client.post(f"/reconciliations/{unknown}/resolve", json=reason).status_code == 404


def test_occupied__system_of_a_person_who_wants_it__cannot_be_reserved(
    client: httpx.Client, people: People, machine: str, occupied: httpx.Response
) -> None:
    client.patch(f"/systems/{machine}", json={"condition": "Manual"})
    answer = people["alice"].put(f"/systems/{machine}/reservation", json={})
    assert answer.status_code == 409
    assert "is occupied: something runs there" in answer.json()["detail"]


def test_running__of_another_lab_or_faulty__is_refused(
    people: People, machine: str, service: Running
) -> None:
    before = service.end()
    west = people["west"].post(
        PATH.replace("east", "west"), json={"items": [{"running": {"system": machine}}, {"vacant": machine}]}
    )
    assert statuses(west) == [403, 403]
    faulty: list[dict[str, Any]] = [
        {"running": {"system": "nobody.example.com"}},
        {"running": {"system": machine, "attempt": 1}},
        {"running": {"system": machine, "recipe_id": 1, "state": "running"}},
        {"running": {"system": machine, "recipe_id": 1, "state": "installing", "task_id": 1}},
        {"running": {"system": machine, "recipe_id": 0}},
    ]
    assert statuses(send_items(people["east"], *faulty)) == [404, 422, 422, 422, 422]
    assert by_people(service, before) == []
