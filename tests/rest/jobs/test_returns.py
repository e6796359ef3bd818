"""The ends of recipes: returned, expired and cancelled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import (
    People,
    after,
    commands,
    finish,
    happened,
    in_one_commit,
    in_state,
    recipe_for,
    report,
    start,
    submit,
    usage,
)
from tests.rest.pinned import PINNED, XML

KEEPS: dict[str, Any] = {"reservesys": {"duration_seconds": 7200, "when": "always"}}


@pytest.fixture
def kept(people: People, machine: str) -> int:
    """Return a recipe of alice, for the group kernel-qe, that keeps its system."""
    (recipe_id,) = submit(people["alice"], recipe_for(machine, **KEEPS), group="kernel-qe")["recipe_ids"]
    finish(people["east"], recipe_id, start(people["east"], recipe_id))
    return recipe_id


def test_recipe__job_asked_to_keep_the_system__reserved_with_a_deadline(
    client: httpx.Client, kept: int, machine: str
) -> None:
    recipe = in_state(client, kept, "reserved")
    assert recipe["reservesys"] == {"duration_seconds": 7200, "when": "always"}
    left = datetime.fromisoformat(recipe["deadline"]) - datetime.fromisoformat(recipe["since"])
    assert abs(left.total_seconds() - 7200) < 1
    assert usage(client, machine) == ("running", kept)


def test_return__by_a_group_member__recipe_and_system_move_together_and_once(
    client: httpx.Client, people: People, kept: int, machine: str, service: Running
) -> None:
    before = service.end()
    answer = people["bob"].post(f"/recipes/{kept}/return")
    assert (answer.status_code, answer.json()["returned"]) == (200, True)
    assert in_one_commit(service, answer) == [
        (f"recipe/{kept}", "recipe.completed"),
        (f"system/{machine}", "system.pending"),
    ]
    assert people["alice"].post(f"/recipes/{kept}/return").json()["returned"] is False
    assert happened(service, before, f"recipe/{kept}") == [(f"recipe/{kept}", "recipe.completed")]
    assert client.get(f"/recipes/{kept}", params=after(answer)).json()["reason"] is None
    assert [command["kind"] for command in commands(client, "lab.east.example.com", machine)] == [
        "provision",
        "release",
    ]


def test_return__with_a_reason__recipe_and_release_show_it(
    client: httpx.Client, people: People, kept: int, machine: str
) -> None:
    path = f"/recipes/{kept}/return"
    refused = people["alice"].post(path, params={"reason": "x" * 4_097})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "reason")
    answer = people["alice"].post(path, params={"reason": "seen it"})
    recipe = client.get(f"/recipes/{kept}", params=after(answer)).json()
    assert (recipe["state"], recipe["reason"]) == ("completed", "seen it")
    assert recipe["history"][-1]["reason"] == "seen it"
    assert commands(client, "lab.east.example.com", machine)[-1]["reason"] == "seen it"


GIVEN_UP = [
    ("always", {"state": "aborted", "reason": "no heartbeat"}, "no heartbeat"),
    ("onabort", {"watchdog_seconds": 1}, "its watchdog expired"),
]


@pytest.mark.parametrize(("when", "message", "reason"), GIVEN_UP, ids=["lab controller", "watchdog"])
def test_recipe__given_up__keeps_its_system_and_is_aborted_with_the_first_reason(
    client: httpx.Client,
    people: People,
    machine: str,
    service: Running,
    when: str,
    message: dict[str, Any],
    reason: str,
) -> None:
    keeps = {"reservesys": {"duration_seconds": 1, "when": when}}
    host, guest = submit(people["alice"], recipe_for(machine, guests=1, **keeps))["recipe_ids"]
    start(people["east"], host)
    before = service.end()
    assert report(people["east"], host, message).status_code == 200
    ended = in_state(client, host, "aborted")
    assert reason in ended["reason"]
    moved = ("recipe.reserved", "recipe.aborted", "system.pending")
    events = [each for each in service.events(before) if each["topic"] in moved]
    kept, *others = [each for each in events if each["subject"] in (f"recipe/{host}", f"recipe/{guest}")]
    assert (kept["topic"], kept["data"]["reason"]) == ("recipe.reserved", ended["reason"])
    assert [(each["subject"], each["topic"]) for each in others] == [
        (f"recipe/{guest}", "recipe.aborted"),
        (f"recipe/{host}", "recipe.aborted"),
    ]
    assert [each["commit_end"] == kept["commit_end"] for each in others] == [True, False]
    # Reported while the recipe kept its system.
    then = {"as_of": kept["commit_end"]}
    recipe = client.get(f"/recipes/{host}", params=then).json()
    assert (recipe["state"], recipe["system"]) == ("reserved", machine)
    assert {task["state"] for task in recipe["tasks"]} == {"aborted"}
    system = client.get(f"/systems/{machine}", params=then).json()
    assert (system["usage"], system["recipe_id"]) == ("running", host)
    assert (f"system/{machine}", "system.pending") in happened(service, kept["commit_end"])


def test_return__same_key_again__first_answer(people: People, kept: int) -> None:
    headers = {"Idempotency-Key": f"return-{kept}"}
    first, again = (people["alice"].post(f"/recipes/{kept}/return", headers=headers) for _ in range(2))
    assert first.json() == again.json() and first.json()["returned"]


def test_return__strangers_and_labs__403(client: httpx.Client, people: People, kept: int) -> None:
    for name in ("carol", "east"):
        assert people[name].post(f"/recipes/{kept}/return").status_code == 403
    in_state(client, kept, "reserved")
    assert client.post(f"/recipes/{kept}/return").status_code == 200


def test_return__recipe_that_runs__409(client: httpx.Client, machine: str) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    start(client, recipe_id)
    answer = client.post(f"/recipes/{recipe_id}/return")
    assert (answer.status_code, "not reserved" in answer.json()["detail"]) == (409, True)
    assert client.post("/recipes/999999/return").status_code == 404


def test_watchdog__set_by_the_lab__moves_the_deadline_as_of_then(
    client: httpx.Client, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    assert in_state(client, recipe_id, "waiting")["deadline"] is not None
    refused = report(client, recipe_id, {"watchdog_seconds": 60, "state": "installing"})
    assert refused.status_code == 422
    start(client, recipe_id)
    earlier = service.end()
    answer = report(client, recipe_id, {"watchdog_seconds": 36_000})
    set_at = service.events()[-1]
    assert (set_at["topic"], set_at["data"]) == ("recipe.watchdog-set", {"seconds": 36_000})
    now = client.get(f"/recipes/{recipe_id}", params=after(answer))
    then = client.get(f"/recipes/{recipe_id}", params={"as_of": earlier})
    asked = datetime.fromisoformat(now.json()["deadline"]) - datetime.fromisoformat(set_at["recorded_at"])
    assert asked.total_seconds() == 36_000
    assert datetime.fromisoformat(then.json()["deadline"]) < datetime.fromisoformat(now.json()["deadline"])
    report(client, recipe_id, {"state": "aborted", "reason": "seen"})
    assert report(client, recipe_id, {"watchdog_seconds": 60}).status_code == 409


def test_watchdog__same_key_again__is_set_once(client: httpx.Client, machine: str, service: Running) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    start(client, recipe_id)
    before = service.end()
    headers = {"Idempotency-Key": f"watchdog-{recipe_id}"}
    path = f"/recipes/{recipe_id}/progress"
    positions = {
        client.post(path, json={"watchdog_seconds": 60}, headers=headers).json()["position"] for _ in range(2)
    }
    assert len(positions) == 1
    assert happened(service, before) == [(f"recipe/{recipe_id}", "recipe.watchdog-set")]


REASON = {"reason": "not needed any more"}


def test_cancel__placed_and_queued__end_and_the_system_is_free_again(
    client: httpx.Client, service: Running
) -> None:
    placed, queued = (_submit(client) for _ in range(2))
    wait_until(
        lambda: _state(client, placed) == "waiting" and _state(client, queued) == "queued", "both to stand"
    )
    before = service.end()
    for job in (queued, placed):
        assert _cancel(client, job).status_code == 200
        assert _state(client, job) == "cancelled"
    wait_until(lambda: "x86-08.west.example.com" in _idle(client), "the system to be idle")
    happened = [(event["topic"], event["subject"].split("/")[0]) for event in service.events(before)]
    assert happened == [
        ("recipe.cancelled", "recipe"),
        ("recipe.cancelled", "recipe"),
        ("system.pending", "system"),
        ("system.idle", "system"),
    ]


def test_cancel__again__changes_nothing(client: httpx.Client, service: Running) -> None:
    job = _submit(client)
    wait_until(lambda: _state(client, job) == "waiting", "it to be placed")
    _cancel(client, job)
    end = wait_until(lambda: _settled(service), "the system to be idle")
    assert _cancel(client, job).status_code == 200
    assert service.end() == end


def test_cancel__somebody_elses_job__403(client: httpx.Client, service: Running) -> None:
    job = _submit(client)
    token = client.post("/tokens", json={"user": "carol", "role": "submitter"}).json()["token"]
    with service.client(token) as carol:
        assert _cancel(carol, job).status_code == 403
        assert _cancel(carol, {"job_id": 999_999}).status_code == 404
    assert client.post(f"/jobs/{job['job_id']}/cancel", json={}).status_code == 422
    wait_until(lambda: _state(client, job) == "waiting", "it to be placed")
    assert _cancel(client, job).status_code == 200


def _submit(client: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/jobs", content=PINNED % b"Normal", headers=XML).json()
    return answer


def _cancel(client: httpx.Client, job: dict[str, Any]) -> httpx.Response:
    answer = client.post(f"/jobs/{job['job_id']}/cancel", json=REASON)
    if answer.status_code == 200:
        client.get("/queue", params=after(answer))
    return answer


def _state(client: httpx.Client, job: dict[str, Any]) -> str | None:
    answer = client.get(f"/jobs/{job['job_id']}")
    return str(answer.json()["state"]) if answer.status_code == 200 else None


def _idle(client: httpx.Client) -> list[str]:
    return [system["fqdn"] for system in client.get("/idle-pool").json()["systems"]]


def _settled(service: Running) -> int | None:
    last = service.events()[-1]
    return int(last["position"]) if last["topic"] == "system.idle" else None
