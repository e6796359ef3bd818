"""Changes of recipes over HTTP, by PATCH and by the key of their set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, by_people, in_state, recipe_for, submit
from tests.rest.jobs.open_jobs import add, recipe_set, submitted


@pytest.fixture
def waits(client: httpx.Client, people: People, machine: str) -> Iterator[int]:
    """Yield a recipe of alice that waits for a machine, which another recipe has."""
    (holds,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    in_state(client, holds, "waiting")
    (waiting,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    in_state(client, waiting, "queued")
    yield waiting
    for recipe_id in (holds, waiting):
        shown = client.get(f"/recipes/{recipe_id}").json()
        client.post(f"/jobs/{shown['job_id']}/cancel", json={"reason": "enough"})


def patch(client: httpx.Client, recipe_id: int, **fields: Any) -> httpx.Response:
    return client.patch(f"/recipes/{recipe_id}", json=fields)


TASKS = [{"name": "/other", "params": {"N": "1"}}, {"name": "/last"}]
NETWORK = {"network": {"Exclusive": ["n1"]}}


def test_changed__tasks_and_locks__are_shown_from_then_on(
    client: httpx.Client, people: People, waits: int, service: Running
) -> None:
    before = client.get(f"/recipes/{waits}").json()
    start = service.end()
    answer = patch(people["alice"], waits, tasks=TASKS, locks=NETWORK)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["changed"], answer.json()["warnings"]) == (True, [])
    assert [topic for _, topic in by_people(service, start)] == ["recipe.changed", "recipe-set.changed"]
    position = answer.json()["position"]
    shown = client.get(f"/recipes/{waits}", params={"min_position": position}).json()
    assert [task["name"] for task in shown["tasks"]] == ["/other", "/last"]
    assert {task["task_id"] for task in shown["tasks"]}.isdisjoint(
        task["task_id"] for task in before["tasks"]
    )
    assert (shown["locks"]["declared"], before["locks"]["declared"]) == (NETWORK, {})
    then = client.get(f"/recipes/{waits}", params={"as_of": start}).json()
    assert (then["tasks"], then["locks"]) == (before["tasks"], before["locks"])
    job = client.get(f"/jobs/{shown['job_id']}").json()
    (stored,) = job["document"]["recipe_sets"][0]["recipes"]
    assert [task["name"] for task in stored["tasks"]] == ["/other", "/last"]
    (summary,) = job["recipe_sets"][0]["recipes"]
    assert [task["name"] for task in summary["tasks"]] == ["/other", "/last"]
    in_xml = client.get(f"/jobs/{shown['job_id']}", headers={"Accept": "application/xml"}).text
    assert 'name="/other"' in in_xml
    again = patch(people["alice"], waits, tasks=TASKS)
    assert (again.json()["changed"], again.json()["warnings"]) == (False, [])


def test_changed__requirement__the_recipe_takes_a_system_that_fits_now(
    client: httpx.Client, people: People, waits: int, machines: Callable[..., str]
) -> None:
    other_machine = machines()
    forced = f'<hostRequires force="{other_machine}"/>'
    answer = patch(people["alice"], waits, host_requires_xml=forced, tasks=TASKS)
    assert answer.status_code == 200, answer.text
    shown = in_state(client, waits, "waiting")
    assert shown["system"] == other_machine
    path = f"/lab-controllers/{shown['lab_controller']}/commands"
    (command,) = [one for one in client.get(path).json()["commands"] if one["recipe_id"] == waits]
    assert [task["name"] for task in command["tasks"]] == ["/other", "/last"]
    late = patch(people["alice"], waits, tasks=TASKS[:1])
    set_id = shown["recipe_set_id"]
    assert (late.status_code, late.json()["detail"]) == (409, f"recipe set {set_id} has already started")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"tasks": []}, "tasks"),
    ({"tasks": [{"name": ""}]}, "tasks[0].name"),
    ({"host_requires": {"element": "nowhere", "op": "=", "value": "1"}}, "host_requires"),
    ({"host_requires_xml": "<hostRequires><"}, "host_requires_xml"),
    ({"locks": {"planet": "AllShared"}}, "locks.planet"),
    ({"distro_requires": None}, ""),
    ({"kernel_options": "quiet"}, "kernel_options"),
]


@pytest.mark.parametrize(("fields", "where"), BAD)
def test_changed__as_it_could_not_have_been_submitted__422_and_nothing_is_stored(
    people: People, waits: int, service: Running, fields: dict[str, Any], where: str
) -> None:
    start = service.end()
    answer = patch(people["alice"], waits, **fields)
    assert answer.status_code == 422, answer.text
    assert any(error["where"].startswith(where) for error in answer.json()["errors"]), answer.text
    assert by_people(service, start) == []


def test_changed__by_another_user__403_and_unknown_404(people: People, waits: int) -> None:
    assert patch(people["bob"], waits, tasks=TASKS).status_code == 403
    assert patch(people["alice"], 2**31 - 1, tasks=TASKS).status_code == 404


def test_set_with_a_key__sent_again__is_a_change_and_no_second_set(
    client: httpx.Client, people: People, machine: str, waits: int
) -> None:
    alice = people["alice"]
    job = submitted(alice, open=True)["job_id"]
    keyed = recipe_set(machine, key="smoke")
    first = add(alice, job, keyed)
    assert first.status_code == 200, first.text
    same = add(alice, job, keyed)
    assert (same.status_code, same.json()["recipe_ids"]) == (200, first.json()["recipe_ids"])
    other = {**keyed, "priority": "High", "recipes": [{**recipe_for(machine), "tasks": TASKS}]}
    changed = add(alice, job, other, recipe_set(machine, key="more"))
    assert changed.status_code == 200, changed.text
    assert changed.json()["recipe_set_ids"][0] == first.json()["recipe_set_ids"][0]
    assert len(changed.json()["recipe_set_ids"]) == 2
    (recipe_id,) = first.json()["recipe_ids"]
    params = {"min_position": changed.json()["position"]}
    shown = client.get(f"/recipes/{recipe_id}", params=params).json()
    assert (shown["priority"], [task["name"] for task in shown["tasks"]]) == ("High", ["/other", "/last"])
    fault = add(alice, job, {**other, "recipes": [*other["recipes"], recipe_for(machine)]})
    assert fault.status_code == 422 and fault.json()["errors"][0]["where"] == "recipe_sets[0].recipes"
    client.post(f"/jobs/{job}/cancel", json={"reason": "enough"})
