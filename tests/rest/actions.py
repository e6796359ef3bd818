"""Requests of users and lab controllers, for the tests of the API."""

from __future__ import annotations

from typing import Any

import httpx

from domain.recipe.lifecycle import FINISHED
from tests.harness.running import Running
from tests.harness.waiting import wait_until

People = dict[str, httpx.Client]
"""Who is logged in as whom, by name."""

MAX_EVENTS_IN_COMMIT = 100
EAST, WEST = "lab.east.example.com", "lab.west.example.com"
DISTRO = {"and": [{"element": "name", "value": "RHEL-9.6"}, {"element": "arch", "value": "x86_64"}]}


def recipe_for(fqdn: str, *, guests: int = 0, **more: Any) -> dict[str, Any]:
    """Return the XML of a recipe of two tasks that only one system can run."""
    both = {"distro_requires": DISTRO, "tasks": [{"name": "/one"}, {"name": "/two"}]}
    guest = {**both, "host_requires": {}, "guestargs": "--ram=1"}
    return {
        **both,
        "host_requires": {"element": "hostname", "value": fqdn},
        "guests": [{**guest, "guestname": f"guest{number}"} for number in range(guests)],
        **more,
    }


def submit(client: httpx.Client, *recipes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Submit one recipe set, and return the answer with the ids."""
    document = {"recipe_sets": [{"recipes": list(recipes)}], **more}
    answer = client.post("/jobs", json=document)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return {**found, "recipe_set_id": found["recipe_set_ids"][0]}


def cancel_set(client: httpx.Client, submitted: dict[str, Any]) -> None:
    """Cancel a set, so that it leaves the queue."""
    path = f"/recipe-sets/{submitted['recipe_set_id']}/cancel"
    assert client.post(path, json={"reason": "seen enough"}).status_code == 200


def in_state(client: httpx.Client, recipe_id: int, *states: str) -> dict[str, Any]:
    """Return the recipe once it is in one of the states."""

    def reached() -> Any:
        answer = client.get(f"/recipes/{recipe_id}")
        if answer.status_code != 200:
            return None
        found = answer.json()
        ended = found["state"] in FINISHED and found["state"] not in states
        assert not ended, f"recipe {recipe_id} is {found['state']}: {found['reason']}"
        return found if found["state"] in states else None

    found: dict[str, Any] = wait_until(reached, f"recipe {recipe_id} to be {' or '.join(states)}")
    return found


def report(client: httpx.Client, recipe_id: int, message: dict[str, Any]) -> httpx.Response:
    return client.post(f"/recipes/{recipe_id}/progress", json=message)


def start(client: httpx.Client, recipe_id: int) -> list[int]:
    """Run the first task of a waiting recipe, and return the ids of its tasks."""
    tasks = [task["task_id"] for task in in_state(client, recipe_id, "waiting")["tasks"]]
    for message in ({"state": "installing"}, {"state": "running", "task_id": tasks[0]}):
        assert report(client, recipe_id, message).status_code == 200
    return tasks


def finish(client: httpx.Client, recipe_id: int, tasks: list[int]) -> httpx.Response:
    """Complete a recipe that runs its first task."""
    for number, task_id in enumerate(tasks):
        if number:
            report(client, recipe_id, {"state": "running", "task_id": task_id})
        report(client, recipe_id, {"task_id": task_id, "result": "Pass"})
        report(client, recipe_id, {"task_id": task_id, "state": "completed"})
    answer = report(client, recipe_id, {"state": "completed"})
    assert answer.status_code == 200, answer.text
    return answer


def after(answer: httpx.Response) -> dict[str, str]:
    """Return the parameters of a read that must reflect a write."""
    return {"min_position": answer.headers["labledger-position"]}


def rows_of(client: httpx.Client, path: str, /, **query: Any) -> list[dict[str, Any]]:
    """Return the first page of a list, such as `claims`."""
    answer = client.get(f"/{path}", params=query)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()[path]
    return rows


def send_items(client: httpx.Client, *items: dict[str, Any], **headers: str) -> httpx.Response:
    """Send a message of the lab controller EAST, and return the answer."""
    answer = client.post(f"/lab-controllers/{EAST}/updates", json={"items": list(items)}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer


def answers_to(client: httpx.Client, *items: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    """Send a message of the lab controller EAST, and return the answers of its items."""
    answers: list[dict[str, Any]] = send_items(client, *items, **headers).json()["items"]
    return answers


def shown(client: httpx.Client, fqdn: str, answer: httpx.Response) -> dict[str, Any]:
    """Return a system, as a write has left it."""
    assert answer.is_success, answer.text
    found: dict[str, Any] = client.get(f"/systems/{fqdn}", params=after(answer)).json()
    return found


def usage(client: httpx.Client, fqdn: str, answer: httpx.Response | None = None) -> tuple[str, int | None]:
    """Return the usage and the recipe of a system; after a write, as the write has left it."""
    system = client.get(f"/systems/{fqdn}").json() if answer is None else shown(client, fqdn, answer)
    return system["usage"], system["recipe_id"]


def commands(client: httpx.Client, lab: str, system: str) -> list[dict[str, Any]]:
    """Return the commands for one system so far."""
    found: list[dict[str, Any]] = []
    while page := client.get(
        f"/lab-controllers/{lab}/commands", params={"after": found[-1]["id"] if found else 0}
    ).json()["commands"]:
        found += page
    return [command for command in found if command["system"] == system]


def happened(service: Running, position: int, *subjects: str) -> list[tuple[str, str]]:
    """Return subject and topic of the events after a position, of some subjects or of all."""
    events = service.events(position)
    return [(e["subject"], e["topic"]) for e in events if not subjects or e["subject"] in subjects]


def by_people(service: Running, position: int) -> list[tuple[str, str]]:
    """Return the events after a position without those of the scheduler, whose time is not predictable."""
    return [(e["subject"], e["topic"]) for e in service.events(position) if e["actor"] != "scheduler"]


def in_one_commit(service: Running, answer: httpx.Response) -> list[tuple[str, str]]:
    """Return subject and topic of the events in the commit of a write."""
    position = int(answer.headers["labledger-position"])
    lately = service.events(max(0, position - MAX_EVENTS_IN_COMMIT))
    return [(e["subject"], e["topic"]) for e in lately if e["commit_end"] == position]
