"""/recipe-sets: shown, cancelled, changed in priority; the end of a recipe ends its set or its guests."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import (
    People,
    after,
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

REASON = {"reason": "not needed"}


def test_recipe_set__shown__has_its_recipes_and_guests(client: httpx.Client, machine: str) -> None:
    job = submit(client, recipe_for(machine, guests=2))
    host, *guests = job["recipe_ids"]
    shown = in_state(client, host, "waiting")
    answer = client.get(f"/recipe-sets/{job['recipe_set_id']}")
    assert answer.headers["etag"] == '"1"'
    body = answer.json()
    assert (body["job_id"], body["priority"], body["state"]) == (job["job_id"], "Normal", "waiting")
    assert [recipe["recipe_id"] for recipe in body["recipes"]] == [host, *guests]
    assert [recipe["host_recipe_id"] for recipe in body["recipes"]] == [None, host, host]
    assert (shown["guests"], shown["host_recipe_id"], shown["reservesys"]) == (guests, None, None)
    guest = client.get(f"/recipes/{guests[1]}").json()
    assert (guest["host_recipe_id"], guest["guestname"], guest["system"]) == (host, "guest1", machine)
    assert client.get("/recipe-sets/999999").status_code == 404


def test_cancel__set_that_waits__all_of_it_in_one_commit_and_once(
    client: httpx.Client, machine: str, service: Running
) -> None:
    job = submit(client, recipe_for(machine, guests=1))
    host, guest = job["recipe_ids"]
    in_state(client, host, "waiting")
    path = f"/recipe-sets/{job['recipe_set_id']}/cancel"
    answer = client.post(path, json=REASON)
    assert (answer.status_code, answer.json()["cancelled"]) == (200, True)
    assert in_one_commit(service, answer) == [
        (f"recipe/{host}", "recipe.cancelled"),
        (f"recipe/{guest}", "recipe.cancelled"),
        (f"system/{machine}", "system.pending"),
    ]
    again = client.post(path, json=REASON)
    assert (again.status_code, again.json()["cancelled"]) == (200, False)
    assert client.post(path, json={}).status_code == 422
    assert client.post("/recipe-sets/999999/cancel", json=REASON).status_code == 404


def test_cancel__one_set_of_a_job__leaves_the_other(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    one, other = machines(), machines()
    sets = [{"recipes": [recipe_for(fqdn)]} for fqdn in (one, other)]
    job = client.post("/jobs", json={"recipe_sets": sets}).json()
    first, second = job["recipe_ids"]
    start(client, first)
    in_state(client, second, "waiting")
    answer = client.post(f"/recipe-sets/{job['recipe_set_ids'][0]}/cancel", json=REASON)
    assert {subject for subject, _ in in_one_commit(service, answer)} == {f"recipe/{first}", f"system/{one}"}
    assert in_state(client, second, "waiting")["state"] == "waiting"
    rest = client.post(f"/jobs/{job['job_id']}/cancel", json=REASON)
    assert in_one_commit(service, rest)[0] == (f"recipe/{second}", "recipe.cancelled")


def test_abort__before_the_start__ends_the_whole_set(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    """One of two recipes has its system, so none has started."""
    free, taken = machines(), machines()
    in_state(client, submit(client, recipe_for(taken))["recipe_ids"][0], "waiting")
    job = submit(client, recipe_for(free), recipe_for(taken))
    holds, waits = job["recipe_ids"]
    in_state(client, holds, "scheduled")
    answer = report(client, holds, {"state": "aborted", "reason": "the lab burns"})
    assert answer.status_code == 200
    assert in_one_commit(service, answer) == [
        (f"recipe/{holds}", "recipe.aborted"),
        (f"recipe/{waits}", "recipe.aborted"),
        (f"system/{free}", "system.pending"),
    ]


def test_host__completes__its_open_guests_are_aborted_with_it(
    client: httpx.Client, machine: str, service: Running
) -> None:
    host, done, late = submit(client, recipe_for(machine, guests=2))["recipe_ids"]
    tasks = start(client, host)
    finish(client, done, start(client, done))
    before = service.end()
    answer = finish(client, host, tasks)
    assert in_one_commit(service, answer)[-3:] == [
        (f"recipe/{host}", "recipe.completed"),
        (f"recipe/{late}", "recipe.aborted"),
        (f"system/{machine}", "system.pending"),
    ]
    assert happened(service, before, f"recipe/{done}") == []
    assert "host" in client.get(f"/recipes/{late}", params=after(answer)).json()["reason"]


def test_guest__whole_life__never_moves_the_system(
    client: httpx.Client, machine: str, service: Running
) -> None:
    host, guest = submit(client, recipe_for(machine, guests=1))["recipe_ids"]
    start(client, host)
    before = service.end()
    answer = finish(client, guest, start(client, guest))
    assert happened(service, before, f"system/{machine}") == []
    assert usage(client, machine, answer) == ("running", host)
    client.post(f"/recipes/{host}/progress", json={"state": "aborted", "reason": "seen"})


def test_priority__of_a_set_that_waits__changes_its_place_in_the_queue(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    first, *others = [submit(people["alice"], recipe_for(machine)) for _ in range(3)]
    in_state(client, first["recipe_ids"][0], "waiting")
    for job in others:
        in_state(client, job["recipe_ids"][0], "queued")
    late = others[1]
    path = f"/recipe-sets/{late['recipe_set_id']}"
    before = service.end()
    answer = people["alice"].patch(path, json={"priority": "High"})
    assert (answer.status_code, answer.json()["changed"]) == (200, True)
    assert people["alice"].patch(path, json={"priority": "High"}).json()["changed"] is False
    assert people["alice"].patch(path, json={}).status_code == 422
    subject = f"recipe-set/{late['recipe_set_id']}"
    assert happened(service, before, subject) == [(subject, "recipe-set.priority-changed")]
    queue = client.get("/queue", params=after(answer)).json()["recipes"]
    ours = [*late["recipe_ids"], *others[0]["recipe_ids"]]
    assert [row["recipe_id"] for row in queue if row["recipe_id"] in ours] == ours
    for job in (first, *others):
        client.post(f"/jobs/{job['job_id']}/cancel", json=REASON)


@pytest.mark.parametrize("priority", ["Urgent", "Low"])
@pytest.mark.parametrize(
    ("who", "status"),
    [
        # Bob submitted the job for kernel-qe; alice is a member of the group, the admin of none.
        *(("bob", 200), ("alice", 200), ("admin", 200)),
        *(("carol", 403), ("east", 403)),
    ],
)
def test_priority__raised_or_lowered__by_users_of_the_job_and_admins(
    client: httpx.Client, people: People, machine: str, who: str, status: int, priority: str
) -> None:
    blocker = submit(client, recipe_for(machine))
    in_state(client, blocker["recipe_ids"][0], "waiting")
    job = submit(people["bob"], recipe_for(machine), group="kernel-qe")
    path = f"/recipe-sets/{job['recipe_set_id']}"
    asking = {**people, "admin": client}[who]
    assert asking.patch(path, json={"priority": priority}).status_code == status
    becomes = priority if status == 200 else "Normal"
    wait_until(lambda: client.get(path).json().get("priority") == becomes, f"the priority to be {becomes}")
    for each in (job, blocker):
        client.post(f"/jobs/{each['job_id']}/cancel", json=REASON)


def test_priority__of_a_set_that_started__409(client: httpx.Client, machine: str) -> None:
    job = submit(client, recipe_for(machine))
    in_state(client, job["recipe_ids"][0], "waiting")
    answer = client.patch(f"/recipe-sets/{job['recipe_set_id']}", json={"priority": "Urgent"})
    assert (answer.status_code, "started" in answer.json()["detail"]) == (409, True)
    assert client.patch("/recipe-sets/999999", json={"priority": "Low"}).status_code == 404


@pytest.mark.parametrize("body", [{"priority": "Extreme"}, {"priority": None}, {"colour": "red"}, []])
def test_priority__that_is_none__422(client: httpx.Client, body: object) -> None:
    assert client.patch("/recipe-sets/1", json=body).status_code == 422


def test_job_of_a_group__changed_by_others__members_may_strangers_may_not(
    client: httpx.Client, people: People, machine: str
) -> None:
    blocker = submit(client, recipe_for(machine))
    in_state(client, blocker["recipe_ids"][0], "waiting")
    job = submit(people["alice"], recipe_for(machine), group="kernel-qe")
    path = f"/recipe-sets/{job['recipe_set_id']}"
    assert people["carol"].patch(path, json={"priority": "Low"}).status_code == 403
    assert people["carol"].post(f"{path}/cancel", json=REASON).status_code == 403
    assert people["east"].post(f"{path}/cancel", json=REASON).status_code == 403
    assert people["bob"].patch(path, json={"priority": "Low"}).status_code == 200
    assert people["bob"].post(f"{path}/cancel", json=REASON).status_code == 200


def test_cancel_and_end__at_once__one_of_them_wins(
    client: httpx.Client, machine: str, service: Running
) -> None:
    host, guest = submit(client, recipe_for(machine, guests=1))["recipe_ids"]
    start(client, host)
    set_id = client.get(f"/recipes/{host}").json()["recipe_set_id"]

    def cancel() -> int:
        with service.client() as own:
            return own.post(f"/recipe-sets/{set_id}/cancel", json=REASON).status_code

    def abort() -> int:
        with service.client() as own:
            return report(own, host, {"state": "aborted", "reason": "no power"}).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = [future.result() for future in [pool.submit(act) for act in (cancel, abort) * 4]]
    assert set(statuses) <= {200, 409} and 200 in statuses
    ends = [topic for subject, topic in happened(service, 0, f"recipe/{host}") if topic in ENDS]
    assert len(ends) == 1
    assert len([1 for _, topic in happened(service, 0, f"recipe/{guest}") if topic in ENDS]) == 1


ENDS = ("recipe.cancelled", "recipe.aborted", "recipe.completed")
