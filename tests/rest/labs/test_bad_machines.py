"""Systems whose provisioning or power control fails become Broken, as their lab controller configures it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import (
    EAST,
    People,
    commands,
    finish,
    in_one_commit,
    in_state,
    recipe_for,
    report,
    shown,
    start,
    submit,
)

FEDORA = {"and": [{"element": "name", "value": "Fedora-44"}, {"element": "arch", "value": "x86_64"}]}
NO_BOOT = {"state": "failed", "reason": "no boot"}
LAB = f"/lab-controllers/{EAST}"


def waiting(client: httpx.Client, machine: str, service: Running, **more: Any) -> int:
    (recipe_id,) = submit(client, recipe_for(machine, **more))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    client.get("/queue", params={"min_position": service.end()})
    return recipe_id


def fail(people: People, machine: str, **body: Any) -> httpx.Response:
    """Report that the last command of the system failed."""
    command = commands(people["east"], EAST, machine)[-1]
    answer = people["east"].patch(f"{LAB}/commands/{command['id']}", json={**NO_BOOT, **body})
    assert answer.status_code == 200, answer.text
    return answer


def test_provisioning__fails_for_two_jobs_and_two_trees__breaks_the_system_in_one_commit(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    waiting(client, machine, service)
    assert shown(client, machine, fail(people, machine))["condition"] == "Automated"
    recipe_id = waiting(client, machine, service, distro_requires=FEDORA)
    answer = fail(people, machine)
    assert [topic for _, topic in in_one_commit(service, answer)] == [
        "command.failed",
        "system.provisioning-failed",
        "system.condition-changed",
        "recipe.aborted",
        "system.idle",
    ]
    assert shown(client, machine, answer)["condition"] == "Broken"
    (latest,) = client.get(f"/systems/{machine}/history", params={"limit": 1}).json()["changes"]
    provisions = [one for one in commands(people["east"], EAST, machine) if one["kind"] == "provision"]
    number = provisions[-1]["id"]
    assert f"recipe {recipe_id}: command {number} (provision) failed: no boot" in latest["reason"]
    recipe = client.get(f"/recipes/{recipe_id}").json()
    assert recipe["reason"] == f"{machine} is Broken: {latest['reason']}"


@pytest.mark.parametrize("alone", [True, False])
def test_power__fails_while_provisioning__breaks_the_system_at_once(
    client: httpx.Client, people: People, machine: str, service: Running, alone: bool
) -> None:
    recipe_id = waiting(client, machine, service)
    if alone:
        answer = fail(people, machine, power_failed=True)
    else:
        command = {"id": commands(people["east"], EAST, machine)[-1]["id"], **NO_BOOT, "power_failed": True}
        answer = people["east"].post(f"{LAB}/updates", json={"items": [{"command": command}]})
        assert [item["status"] for item in answer.json()["items"]] == [200]
        answer = client.get("/queue", params={"min_position": service.end()})
        answer.headers["labledger-position"] = str(service.end())
    system = shown(client, machine, answer)
    assert (system["condition"], system["usage"]) == ("Broken", "idle")
    assert "a power command failed" in client.get(f"/recipes/{recipe_id}").json()["reason"]


def test_release__fails__breaks_the_system_unless_it_was_powered_since(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    first = waiting(client, machine, service)
    finish(client, first, start(client, first))
    next_one = waiting(client, machine, service)
    (release,) = [c for c in commands(people["east"], EAST, machine) if c["kind"] == "release"]
    path = f"{LAB}/commands/{release['id']}"
    tasks = start(client, next_one)
    assert shown(client, machine, people["east"].patch(path, json=NO_BOOT))["condition"] == "Automated"
    client.get(
        "/queue", params={"min_position": finish(client, next_one, tasks).headers["labledger-position"]}
    )
    assert shown(client, machine, fail(people, machine))["condition"] == "Broken"


def test_broken_after__of_the_lab_controller__is_shown_kept_and_counts(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    assert client.get(LAB).json()["broken_after"] == 2
    try:
        assert client.patch(LAB, json={"broken_after": 0}).json()["changed"] is True
        # A document that does not name it keeps it.
        answer = client.put(LAB, json={"enabled": True})
        assert (answer.json()["broken_after"], answer.json()["changed"]) == (0, False)
        waiting(client, machine, service)
        assert shown(client, machine, fail(people, machine, power_failed=True))["condition"] == "Automated"
        for wrong in (-1, 21, "two"):
            assert client.patch(LAB, json={"broken_after": wrong}).status_code == 422
    finally:
        assert client.patch(LAB, json={"broken_after": 2}).status_code == 200


def test_panic__reported_before_the_first_task__ends_the_recipe_with_a_result(
    client: httpx.Client, machine: str, service: Running
) -> None:
    recipe_id = waiting(client, machine, service)
    task_id = client.get(f"/recipes/{recipe_id}").json()["tasks"][0]["task_id"]
    report(client, recipe_id, {"state": "installing"})
    for _ in range(2):
        answer = report(client, recipe_id, {"task_id": task_id, "result": "Panic", "message": "not syncing"})
        assert answer.status_code == 200, answer.text
    recipe = in_state(client, recipe_id, "aborted")
    assert (recipe["result"], recipe["reason"]) == ("Panic", "panic during installation: not syncing")
