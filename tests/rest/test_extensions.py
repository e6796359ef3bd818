"""More time for recipes, reservations and loans."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, People, after, finish, happened, in_state, recipe_for, start, submit

UNTIL = "2099-01-01T00:00:00Z"
LATER = "2099-01-02T00:00:00Z"


def deadline(client: httpx.Client, recipe_id: int, answer: httpx.Response) -> datetime:
    return datetime.fromisoformat(
        client.get(f"/recipes/{recipe_id}", params=after(answer)).json()["deadline"]
    )


def test_recipe__extended_by_a_group_member__expires_later_as_of_then(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(people["alice"], recipe_for(machine), group="kernel-qe")["recipe_ids"]
    start(people["east"], recipe_id)
    position, path = service.end(), f"/recipes/{recipe_id}/extension"
    shown = client.get(f"/recipes/{recipe_id}", params={"min_position": position}).json()
    before = datetime.fromisoformat(shown["deadline"])
    keyed = {"Idempotency-Key": f"more-{recipe_id}"}
    asked = {"seconds": 7_200, "reason": "still bisecting"}
    answers = [people["bob"].post(path, json=asked, headers=keyed) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert deadline(client, recipe_id, answers[0]) - before == timedelta(seconds=7_200)
    assert datetime.fromisoformat(answers[0].json()["until"]) == before + timedelta(seconds=7_200)
    then = client.get(f"/recipes/{recipe_id}", params={"as_of": position}).json()
    assert datetime.fromisoformat(then["deadline"]) == before
    (event,) = (each for each in service.events(position) if each["topic"] == "recipe.extended")
    assert (event["actor"], event["data"]) == ("bob", asked)
    assert people["carol"].post(path, json={"seconds": 60}).status_code == 403
    finish(people["east"], recipe_id, [task["task_id"] for task in then["tasks"]])
    ended = people["bob"].post(path, json={"seconds": 60})
    assert (ended.status_code, ended.json()["detail"]) == (
        *(409, f"recipe {recipe_id} has ended: it is completed"),
    )


def test_recipe__extended_by_who_controls_the_system__expires_later(
    people: People, machine: str, client: httpx.Client
) -> None:
    (recipe_id,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    start(people["east"], recipe_id)
    path = f"/recipes/{recipe_id}/extension"
    assert people["carol"].post(path, json={"seconds": 60}).status_code == 403
    entries = [{"permission": "control_system", "user": "carol"}, {"permission": "view", "everybody": True}]
    entries += [{"permission": "submit", "everybody": True}]
    client.put(f"/systems/{machine}/access-policy", json={"entries": entries}).raise_for_status()
    assert people["carol"].post(path, json={"seconds": 60}).status_code == 200
    client.post(
        f"/recipes/{recipe_id}/progress", json={"state": "aborted", "reason": "seen"}
    ).raise_for_status()


def test_recipe__beyond_the_maximum_of_its_lab__is_refused_and_nothing_is_stored(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    lab = f"/lab-controllers/{EAST}"
    assert client.get(lab).json()["max_extension_seconds"] == 604_800
    assert client.patch(lab, json={"max_extension_seconds": 3_600}).json()["changed"] is True
    assert client.patch(lab, json={"max_extension_seconds": 3_600}).json()["changed"] is False
    (recipe_id,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    start(people["east"], recipe_id)
    path, before = f"/recipes/{recipe_id}/extension", service.end()
    refused = people["alice"].post(path, json={"seconds": 3_601})
    assert refused.status_code == 422
    (fault,) = refused.json()["errors"]
    assert fault["where"] == "seconds" and "of which 1h are left" in fault["message"]
    assert happened(service, before, f"recipe/{recipe_id}") == []
    assert people["alice"].post(path, json={"seconds": 3_000}).status_code == 200
    assert "10m are left" in people["alice"].post(path, json={"seconds": 601}).text
    changed = client.put(lab, json={"max_extension_seconds": 604_800})
    assert (changed.status_code, changed.json()["max_extension_seconds"]) == (200, 604_800)
    client.post(
        f"/recipes/{recipe_id}/progress", json={"state": "aborted", "reason": "seen"}
    ).raise_for_status()


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body"),
        ({"seconds": 60, "until": LATER}, "body"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": True}, "seconds"),
        ({"until": "tomorrow"}, "until"),
        ({"seconds": 60, "by": "me"}, "by"),
    ],
)
def test_extension__of_a_wrong_form__is_refused(
    client: httpx.Client, body: dict[str, object], where: str
) -> None:
    refused = client.post("/recipes/1/extension", json=body)
    assert refused.status_code == 422
    assert where in [fault["where"] for fault in refused.json()["errors"]]
    assert client.post("/recipes/2147483647/extension", json={"seconds": 1}).status_code == 404
    assert client.post("/systems/no.such/extension", json={"seconds": 1}).status_code == 404


def test_reservation__extended__ends_later_up_to_the_maximum(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    fqdn = machines(condition="Manual")
    path = f"/systems/{fqdn}/extension"
    assert client.post(path, json={"seconds": 60}).status_code == 409
    people["bob"].put(f"/systems/{fqdn}/reservation", json={"until": UNTIL}).raise_for_status()
    answer = people["bob"].post(path, json={"until": LATER, "reason": "one more day"})
    assert (answer.status_code, answer.json()["until"]) == (200, LATER)
    shown = client.get(f"/systems/{fqdn}", params=after(answer)).json()
    assert (shown["reserved_until"], shown["user"]) == (LATER, "bob")
    (change,) = client.get(f"/systems/{fqdn}/history").json()["changes"][:1]
    assert (change["actor"], change["reason"]) == ("bob", "one more day")
    assert [each["property"] for each in change["changes"]] == ["reserved_until"]
    refused = people["bob"].post(path, json={"seconds": 604_800})
    assert "6d are left" in refused.text
    people["bob"].delete(f"/systems/{fqdn}/reservation").raise_for_status()


def test_loan__extended__ends_later(client: httpx.Client, machines: Callable[..., str]) -> None:
    fqdn = machines(condition="Manual")
    client.put(f"/systems/{fqdn}/loan", json={"user": "bob", "until": UNTIL}).raise_for_status()
    answer = client.post(f"/systems/{fqdn}/extension", json={"until": LATER})
    assert client.get(f"/systems/{fqdn}", params=after(answer)).json()["loaned_until"] == LATER
    client.delete(f"/systems/{fqdn}/loan").raise_for_status()


def test_kept_system__extended__is_kept_longer(client: httpx.Client, people: People, machine: str) -> None:
    keeps = {"reservesys": {"duration_seconds": 7_200, "when": "always"}}
    (recipe_id,) = submit(people["alice"], recipe_for(machine, **keeps))["recipe_ids"]
    finish(people["east"], recipe_id, start(people["east"], recipe_id))
    before = datetime.fromisoformat(in_state(client, recipe_id, "reserved")["deadline"])
    answer = people["alice"].post(f"/recipes/{recipe_id}/extension", json={"seconds": 600})
    assert deadline(client, recipe_id, answer) - before == timedelta(seconds=600)
    people["alice"].post(f"/recipes/{recipe_id}/return").raise_for_status()
