"""What people and lab controllers do in these tests, in few words."""

from __future__ import annotations

from typing import Any

import httpx

from domain.recipe.lifecycle import FINISHED
from tests.harness.running import Running
from tests.harness.waiting import wait_until

People = dict[str, httpx.Client]
"""Who is logged in as whom, by name."""

MOST_IN_ONE_COMMIT = 100
EAST, WEST = "lab.east.example.com", "lab.west.example.com"
DISTRO = {"and": [{"element": "name", "value": "RHEL-9.6"}, {"element": "arch", "value": "x86_64"}]}


def recipe_for(fqdn: str, *, guests: int = 0, **more: Any) -> dict[str, Any]:
    """A recipe of two tasks that only one system can take."""
    both = {"distro_requires": DISTRO, "tasks": [{"name": "/one"}, {"name": "/two"}]}
    guest = {**both, "host_requires": {}, "guestargs": "--ram=1"}
    return {
        **both,
        "host_requires": {"element": "hostname", "value": fqdn},
        "guests": [{**guest, "guestname": f"guest{number}"} for number in range(guests)],
        **more,
    }


def submit(client: httpx.Client, *recipes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One recipe set; its answer has the ids."""
    document = {"recipe_sets": [{"recipes": list(recipes)}], **more}
    answer = client.post("/jobs", json=document)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return {**found, "recipe_set_id": found["recipe_set_ids"][0]}


def cancel_set(client: httpx.Client, submitted: dict[str, Any]) -> None:
    """So that nothing is left of it in the queue."""
    path = f"/recipe-sets/{submitted['recipe_set_id']}/cancel"
    assert client.post(path, json={"reason": "seen enough"}).status_code == 200


def in_state(client: httpx.Client, recipe_id: int, *states: str) -> dict[str, Any]:
    """The recipe, once it is in one of the states."""

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
    """Have a recipe that waits run its first task; the ids of its tasks."""
    tasks = [task["task_id"] for task in in_state(client, recipe_id, "waiting")["tasks"]]
    for message in ({"state": "installing"}, {"state": "running", "task_id": tasks[0]}):
        assert report(client, recipe_id, message).status_code == 200
    return tasks


def finish(client: httpx.Client, recipe_id: int, tasks: list[int]) -> httpx.Response:
    """Have a recipe that runs its first task come to its end."""
    for number, task_id in enumerate(tasks):
        if number:
            report(client, recipe_id, {"state": "running", "task_id": task_id})
        report(client, recipe_id, {"task_id": task_id, "result": "Pass"})
        report(client, recipe_id, {"task_id": task_id, "state": "completed"})
    answer = report(client, recipe_id, {"state": "completed"})
    assert answer.status_code == 200, answer.text
    return answer


def after(answer: httpx.Response) -> dict[str, str]:
    """What makes a read wait for what a write has made."""
    return {"min_position": answer.headers["labledger-position"]}


def shown(client: httpx.Client, fqdn: str, answer: httpx.Response) -> dict[str, Any]:
    """A system, as a write has made it."""
    assert answer.is_success, answer.text
    found: dict[str, Any] = client.get(f"/systems/{fqdn}", params=after(answer)).json()
    return found


def usage(client: httpx.Client, fqdn: str, answer: httpx.Response | None = None) -> tuple[str, int | None]:
    """What a system does, and for which recipe; after a write, as it has made it."""
    system = client.get(f"/systems/{fqdn}").json() if answer is None else shown(client, fqdn, answer)
    return system["usage"], system["recipe_id"]


def commands(client: httpx.Client, lab: str, system: str) -> list[dict[str, Any]]:
    """Of one system, so far."""
    found: list[dict[str, Any]] = []
    while page := client.get(
        f"/lab-controllers/{lab}/commands", params={"after": found[-1]["id"] if found else 0}
    ).json()["commands"]:
        found += page
    return [command for command in found if command["system"] == system]


def happened(service: Running, position: int, *subjects: str) -> list[tuple[str, str]]:
    """(subject, topic) of what came after a position, of some subjects or all."""
    events = service.events(position)
    return [(e["subject"], e["topic"]) for e in events if not subjects or e["subject"] in subjects]


def by_people(service: Running, position: int) -> list[tuple[str, str]]:
    """What came after a position and was not decided by the scheduler, which answers in its own time."""
    return [(e["subject"], e["topic"]) for e in service.events(position) if e["actor"] != "scheduler"]


def in_one_commit(service: Running, answer: httpx.Response) -> list[tuple[str, str]]:
    """(subject, topic) of the events of the commit that a write has made."""
    position = int(answer.headers["labledger-position"])
    lately = service.events(max(0, position - MOST_IN_ONE_COMMIT))
    return [(e["subject"], e["topic"]) for e in lately if e["commit_end"] == position]
