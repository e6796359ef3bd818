"""Lab controllers: contacts, commands and reports of progress."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
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
    commands,
    happened,
    in_one_commit,
    in_state,
    recipe_for,
    report,
    start,
    submit,
)


def test_enabled__changed__once_and_by_admins_only(
    client: httpx.Client, people: People, service: Running
) -> None:
    before = service.end()
    for enabled in (False, False, True):
        assert client.patch(f"/lab-controllers/{WEST}", json={"enabled": enabled}).status_code == 200
    assert client.patch(f"/lab-controllers/{WEST}", json={}).json()["changed"] is False
    subject = f"lab-controller/{WEST}"
    assert happened(service, before, subject) == [
        (subject, "lab-controller.disabled"),
        (subject, "lab-controller.enabled"),
    ]
    assert people["west"].patch(f"/lab-controllers/{WEST}", json={"enabled": False}).status_code == 403
    assert client.patch("/lab-controllers/no.example.com", json={"enabled": True}).status_code == 404
    for body in ({"enabled": None}, {"enabled": "maybe"}, {"colour": "red"}):
        assert client.patch(f"/lab-controllers/{WEST}", json=body).status_code == 422


def test_last_heard__any_request_of_its_token__moves_it_without_an_event(
    client: httpx.Client, people: People, service: Running
) -> None:
    silent = {"enabled": True}
    assert client.put("/lab-controllers/lab.north.example.com", json=silent).status_code == 200
    north = client.post(
        "/tokens",
        json={"user": "lab-ops", "role": "lab-controller", "lab_controller": "lab.north.example.com"},
    ).json()["token"]
    before = service.end()
    path = "/lab-controllers/lab.north.example.com"
    client.get("/queue", params={"min_position": before})
    new = client.get(path).json()
    assert (new["silent"], new["never_heard"], new["last_heard_at"]) == (True, True, None)
    with service.client(north) as lab:
        assert lab.get("/queue").status_code == 200
    shown = client.get(path).json()
    age = datetime.now(UTC) - datetime.fromisoformat(shown["last_heard_at"])
    assert 0 <= age.total_seconds() < 10
    wait_until(lambda: client.get(path).json()["silent"] is False, "the lab to be heard")
    assert client.get(path).json()["never_heard"] is False
    assert client.get(path, params={"as_of": before}).json()["never_heard"] is True
    listed = client.get("/lab-controllers").json()["lab_controllers"]
    assert shown["last_heard_at"] in [row["last_heard_at"] for row in listed]
    assert client.get(path, params={"as_of": before}).json()["last_heard_at"] is None
    assert by_people(service, before) == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("DELETE", "/lab-controllers/{fqdn}", 403),
        ("GET", f"/lab-controllers/{EAST}/commands", 403),
        ("GET", "/recipes/999999999", 404),
        ("POST", "/lab-controllers/{fqdn}/updates", 415),
    ],
)
def test_last_heard__request_is_refused__moves_it_too(
    client: httpx.Client, service: Running, method: str, path: str, status: int
) -> None:
    fqdn = f"lab.refused-{status}-{method}.example.com".lower()
    there = after(client.put(f"/lab-controllers/{fqdn}", json={"enabled": True}))
    body = {"user": "lab-ops", "role": "lab-controller", "lab_controller": fqdn}
    token = client.post("/tokens", json=body).json()["token"]
    assert client.get(f"/lab-controllers/{fqdn}", params=there).json()["last_heard_at"] is None
    with service.client(token) as lab:
        assert lab.request(method, path.format(fqdn=fqdn), content=b"{").status_code == status
    assert client.get(f"/lab-controllers/{fqdn}").json()["last_heard_at"] is not None
    client.delete(f"/lab-controllers/{fqdn}")


def test_last_heard__admin_reads_its_commands__counts_only_when_acting_as_it(
    client: httpx.Client, people: People
) -> None:
    fqdn = "lab.far.example.com"
    path, acting = f"/lab-controllers/{fqdn}", {"Labledger-Acts-As": fqdn}
    there = after(client.put(path, json={"enabled": True}))
    assert client.get(f"{path}/commands").status_code == 200
    assert client.post(f"{path}/updates", json={"items": []}).status_code == 200
    assert client.get(path, params=there).json()["last_heard_at"] is None
    assert client.get(f"{path}/commands", headers=acting).status_code == 200
    assert client.get(path).json()["last_heard_at"] is not None
    # The admin acts as a lab controller only; other users may not do this.
    assert client.get(f"/lab-controllers/{EAST}/commands", headers=acting).status_code == 403
    assert client.put(path, json={"enabled": True}, headers=acting).status_code == 403
    for who in ("alice", "east"):
        assert people[who].get("/queue", headers=acting).status_code == 403
    own = {"Labledger-Acts-As": EAST}
    assert people["east"].get(f"/lab-controllers/{EAST}/commands", headers=own).status_code == 200


def test_distro_tree__removed_and_put_again__is_gone_and_back(
    client: httpx.Client, people: People, service: Running
) -> None:
    tree = {"name": "Passing", "family": "P", "arch": "x86_64", "urls": {EAST: ["http://e"]}}
    assert client.put("/distro-trees/88", json=tree).status_code == 200
    before = service.end()
    assert people["alice"].delete("/distro-trees/88").status_code == 403
    gone = client.delete("/distro-trees/88")
    assert (gone.status_code, gone.json()["removed"]) == (200, True)
    assert client.delete("/distro-trees/88").json()["removed"] is False
    assert client.get("/distro-trees/88", params=after(gone)).status_code == 404
    back = client.put("/distro-trees/88", json=tree)
    assert client.get("/distro-trees/88", params=after(back)).json()["urls"] == {EAST: ["http://e"]}
    # Lab controllers of other tests may be heard meanwhile.
    assert [one for one in happened(service, before) if one[0] == "distro-tree/88"] == [
        ("distro-tree/88", "distro-tree.removed"),
        ("distro-tree/88", "distro-tree.registered"),
    ]
    assert client.delete("/distro-trees/999").status_code == 404
    assert client.delete("/distro-trees/abc").status_code == 422
    client.delete("/distro-trees/88")


def test_commands__host_with_guests__name_the_systems_to_install_and_to_stop(
    client: httpx.Client, people: People, machine: str
) -> None:
    host, guest = submit(client, recipe_for(machine, guests=1))["recipe_ids"]
    start(client, host)
    (command,) = commands(people["east"], EAST, machine)
    assert (command["kind"], command["recipe_id"], command["state"]) == ("provision", host, "queued")
    (shown,) = command["guests"]
    assert (shown["recipe_id"], shown["guestname"], shown["guestargs"]) == (guest, "guest0", "--ram=1")
    assert shown["distro_tree"]["id"] == 1 and len(shown["tasks"]) == 2
    answer = report(client, guest, {"state": "aborted", "reason": "out of memory"})
    client.get("/queue", params=after(answer))
    assert [(one["kind"], one["recipe_id"]) for one in commands(people["east"], EAST, machine)] == [
        ("provision", host),
        ("stop", guest),
    ]
    path = f"/lab-controllers/{EAST}/commands"
    done = people["east"].patch(f"{path}/{command['id']}", json={"state": "completed"})
    client.get("/queue", params=after(done))
    left = client.get(path, params={"unfinished": "true", "after": command["id"] - 1}).json()["commands"]
    assert [one["kind"] for one in left if one["system"] == machine] == ["stop"]
    client.post(f"/recipes/{host}/progress", json={"state": "aborted", "reason": "seen"})


def test_command__host_cannot_be_provisioned__guests_end_with_it_in_one_commit(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    host, guest = submit(client, recipe_for(machine, guests=1))["recipe_ids"]
    in_state(client, host, "waiting")
    client.get("/queue", params={"min_position": service.end()})
    (command,) = commands(people["east"], EAST, machine)
    path = f"/lab-controllers/{EAST}/commands/{command['id']}"
    answer = people["east"].patch(path, json={"state": "failed", "reason": "no power"})
    assert in_one_commit(service, answer) == [
        (f"command/{command['id']}", "command.failed"),
        (f"recipe/{host}", "recipe.aborted"),
        (f"recipe/{guest}", "recipe.aborted"),
        (f"system/{machine}", "system.pending"),
        (f"system/{machine}", "system.provisioning-failed"),
    ]


def test_command__fails_after_the_recipe_ended__changes_nothing_else(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    start(client, recipe_id)
    (command,) = commands(people["east"], EAST, machine)
    report(client, recipe_id, {"state": "aborted", "reason": "first"})
    path = f"/lab-controllers/{EAST}/commands/{command['id']}"
    answer = people["east"].patch(path, json={"state": "failed", "reason": "second"})
    assert in_one_commit(service, answer) == [(f"command/{command['id']}", "command.failed")]
    assert client.get(f"/recipes/{recipe_id}", params=after(answer)).json()["reason"] == "first"


def test_commands__of_a_lab_controller_removed_since__are_shown_as_of_then(client: httpx.Client) -> None:
    name = "gone.example.com"
    then = client.put(f"/lab-controllers/{name}", json={}).json()["position"]
    assert client.get(f"/lab-controllers/{name}/commands").json()["commands"] == []
    assert client.delete(f"/lab-controllers/{name}").json()["removed"] is True
    assert client.get(f"/lab-controllers/{name}/commands").status_code == 404
    shown = client.get(f"/lab-controllers/{name}/commands", params={"as_of": then})
    assert (shown.status_code, shown.json()["commands"]) == (200, [])
    before = client.get(f"/lab-controllers/{name}/commands", params={"as_of": then - 1})
    assert before.status_code == 404


def test_commands__token_revoked_while_it_waits__gives_out_none(
    client: httpx.Client, service: Running
) -> None:
    fqdn = "lab.poll.example.com"
    client.put(f"/lab-controllers/{fqdn}", json={"enabled": True})
    body = {"user": "lab-ops", "role": "lab-controller", "lab_controller": fqdn}
    made = client.post("/tokens", json=body).json()
    with service.client(made["token"]) as lab, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(lab.get, f"/lab-controllers/{fqdn}/commands", params={"wait_seconds": 3})
        # The token was valid at the beginning of the request.
        wait_until(lambda: client.get(f"/lab-controllers/{fqdn}").json().get("last_heard_at") is not None)
        assert client.delete(f"/tokens/{made['token_id']}").status_code == 200
        answer = waiting.result()
    assert client.delete(f"/lab-controllers/{fqdn}").status_code == 200
    assert (answer.status_code, answer.json()["detail"]) == (401, "this token was revoked or has expired")


XML = {"Content-Type": "application/xml"}


@pytest.fixture
def placed(client: httpx.Client, smoke: bytes) -> Iterator[dict[str, Any]]:
    """Yield a recipe that waits on its system: its id, its task ids, its lab, and its command."""
    answer = client.post("/jobs", content=smoke, headers=XML).json()
    (recipe_id,) = answer["recipe_ids"]
    recipe = wait_until(lambda: _in_state(client, recipe_id, "waiting"), "the recipe to wait")
    lab = recipe["lab_controller"]
    commands = wait_until(lambda: _commands(client, lab, recipe_id), "the command")
    tasks = [task["task_id"] for task in recipe["tasks"]]
    yield {"recipe_id": recipe_id, "tasks": tasks, "lab": lab, "command": commands[0]}
    client.post(f"/jobs/{answer['job_id']}/cancel", json={"reason": "not needed"})


def test_progress__whole_life_with_every_message_twice__each_counts_once(
    client: httpx.Client, placed: dict[str, Any], service: Running
) -> None:
    recipe_id = placed["recipe_id"]
    for message in _life(placed["tasks"]):
        first = _report(client, recipe_id, message)
        again = _report(client, recipe_id, message)
        assert (first.status_code, again.status_code) == (200, 200), (message, first.text, again.text)
    topics = [event["topic"] for event in service.events() if event["subject"] == f"recipe/{recipe_id}"]
    assert topics == [
        *("recipe.new", "recipe.scheduled", "recipe.waiting", "recipe.installing", "recipe.running"),
        *("recipe.task-started", "recipe.task-result", "recipe.task-completed") * 2,
        "recipe.completed",
    ]


@pytest.mark.parametrize(
    ("message", "topics"),
    [
        ({"state": "running"}, []),
        ({"result": "Pass"}, ["recipe.task-result"]),
        ({"state": "completed"}, ["recipe.task-completed"]),
    ],
    ids=["start", "result", "end"],
)
def test_progress__earlier_messages_are_lost__recipe_and_system_become_running_at_once(
    client: httpx.Client, placed: dict[str, Any], service: Running, message: dict[str, Any], topics: list[str]
) -> None:
    answer = _report(client, placed["recipe_id"], {**message, "task_id": placed["tasks"][0]})
    assert answer.status_code == 200
    end = int(_position(answer))
    assert [event["topic"] for event in service.events() if event["commit_end"] == end] == [
        *("recipe.installing", "system.installing", "recipe.running", "system.running"),
        *("recipe.task-started", *topics),
    ]
    for late in ({"state": "installing"}, {"state": "running", "task_id": placed["tasks"][0]}):
        assert _report(client, placed["recipe_id"], late).status_code == 200


def test_progress__contradicts_the_state__409_and_nothing_stored(
    client: httpx.Client, placed: dict[str, Any]
) -> None:
    recipe_id, first_task = placed["recipe_id"], placed["tasks"][0]
    for message in ({"state": "completed"}, {"task_id": 2**31 - 1, "result": "Pass"}):
        assert _report(client, recipe_id, message).status_code == 409, message
    assert _report(client, recipe_id, {"state": "aborted", "reason": "enough"}).status_code == 200
    for message in (
        {"state": "installing"},
        {"task_id": first_task, "state": "completed"},
        {"task_id": first_task, "result": "Pass"},
    ):
        assert _report(client, recipe_id, message).status_code == 409, message


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"state": "sleeping"},
        {"state": "aborted"},  # without its reason
        {"task_id": 1},
        {"task_id": 1, "result": "Splendid"},
        {"state": "installing", "result": "Pass"},
        {"colour": "red"},
        {"task_id": 1, "result": "Pass", "log_urls": ["file:///etc/passwd"]},
        {"task_id": 1, "result": "Pass", "log_urls": ["javascript:alert(1)"]},
        {"task_id": 1, "result": "Pass", "logs": [{"name": "a", "url": "ftp://lab/a"}]},
        {"task_id": 1, "result": "Pass", "logs": [{"name": "a", "url": "http://"}]},
        {"task_id": 1, "result": "Pass", "logs": [{"name": "a", "url": "http://lab/a b"}]},
        {"task_id": 1, "result": "Pass", "logs": [{"url": "http://lab/a"}]},
        {"task_id": 1, "result": "Pass", "logs": [{"name": "a", "url": "http://lab/a", "size_bytes": -1}]},
        {"task_id": 1, "result": "Pass", "logs": [{"name": "a", "url": "http://lab/a", "sha256": "12"}]},
        {"state": "installing", "path": "/a"},
    ],
)
def test_progress__of_an_unknown_form__422(client: httpx.Client, message: dict[str, Any]) -> None:
    assert _report(client, 1, message).status_code == 422


def test_progress__results_with_logs__are_shown_and_only_an_equal_path_and_content_is_a_repetition(
    client: httpx.Client, placed: dict[str, Any]
) -> None:
    recipe_id, task_id = placed["recipe_id"], placed["tasks"][0]
    log = {"name": "a.log", "url": "https://lab/a.log", "size_bytes": 2**40, "sha256": "0" * 64}
    short = {"name": "b.log", "url": "HTTP://lab/b.log?x=1", "size_bytes": None, "sha256": None}
    one = {"task_id": task_id, "result": "Pass", "path": "/memory", "logs": [log, short]}
    _report(client, recipe_id, {"state": "running", "task_id": task_id})
    for message in (one, one, {**one, "path": "/memory/2"}, {**one, "logs": [log]}):
        answer = _report(client, recipe_id, message)
        assert answer.status_code == 200, answer.text
    shown = client.get(f"/recipes/{recipe_id}", params={"min_position": _position(answer)}).json()["results"]
    assert [(result["path"], result["logs"], result["log_urls"]) for result in shown] == [
        *(("/memory", [log, short], []), ("/memory/2", [log, short], []), ("/memory", [log], []))
    ]


def test_progress__link_of_another_scheme__is_refused_by_its_place(client: httpx.Client) -> None:
    logs = [{"name": "a", "url": "http://lab/a"}, {"name": "b", "url": "data:text/html,x"}]
    answer = _report(client, 1, {"task_id": 1, "result": "Pass", "logs": logs, "log_urls": ["x"]})
    must = "must be a link that begins with http:// or https://"
    assert answer.json()["errors"] == [
        {"where": "logs[1].url", "message": must},
        {"where": "log_urls[0]", "message": must},
    ]


def test_updates__many_items__each_has_its_own_answer(client: httpx.Client, placed: dict[str, Any]) -> None:
    recipe_id = placed["recipe_id"]
    items: list[dict[str, Any]] = [
        {"progress": {"recipe_id": recipe_id, **message}} for message in _life(placed["tasks"])
    ]
    items.insert(1, {"progress": {"recipe_id": 999_999, "state": "installing"}})
    items.insert(1, {"progress": {"recipe_id": recipe_id, "state": "completed"}})
    items.append({"colour": "red"})
    answer = client.post(f"/lab-controllers/{placed['lab']}/updates", json={"items": items})
    assert answer.status_code == 200
    statuses = [item["status"] for item in answer.json()["items"]]
    assert statuses == [200, 409, 404, *[200] * 7, 422]
    position = answer.headers["labledger-position"]
    recipe = client.get(f"/recipes/{recipe_id}", params={"min_position": position}).json()
    assert (recipe["state"], recipe["result"]) == ("completed", "Pass")


def test_command__failed__aborts_its_recipe_once(
    client: httpx.Client, placed: dict[str, Any], service: Running
) -> None:
    path = f"/lab-controllers/{placed['lab']}/commands/{placed['command']['id']}"
    for _ in range(2):
        answer = client.patch(path, json={"state": "failed", "reason": "no power"})
        assert answer.status_code == 200
    assert client.patch(path, json={"state": "running"}).status_code == 409
    recipe = client.get(f"/recipes/{placed['recipe_id']}", params={"min_position": _position(answer)}).json()
    assert recipe["state"] == "aborted" and "no power" in recipe["reason"]
    assert (recipe["result"], {task["result"] for task in recipe["tasks"]}) == ("Warn", {"Warn"})
    subject = f"recipe/{placed['recipe_id']}"
    aborted = [e for e in service.events() if e["topic"] == "recipe.aborted" and e["subject"] == subject]
    assert len(aborted) == 1


def test_command__asked_for__says_what_the_lab_needs(client: httpx.Client, placed: dict[str, Any]) -> None:
    command = placed["command"]
    assert command["kind"] == "provision" and command["recipe_id"] == placed["recipe_id"]
    assert command["distro_tree"]["id"] == 1 and command["distro_tree"]["urls"]
    assert (command["kernel_options"], command["ks_meta"]) == ("console=ttyS0", "method=nfs")
    assert [task["id"] for task in command["tasks"]] == placed["tasks"]
    assert command["tasks"][1]["params"] == {"ITERATIONS": "3"}
    _report(client, placed["recipe_id"], {"state": "aborted", "reason": "seen"})


def _life(tasks: list[int]) -> list[dict[str, Any]]:
    one, two = tasks
    return [
        {"state": "installing"},
        {"state": "running", "task_id": one},
        {"task_id": one, "result": "Pass", "message": "fine", "score": 1.5, "log_urls": ["http://x/log"]},
        {"task_id": one, "state": "completed"},
        {"state": "running", "task_id": two},
        {"task_id": two, "result": "Pass"},
        {"task_id": two, "state": "completed"},
        {"state": "completed"},
    ]


def _report(client: httpx.Client, recipe_id: int, message: dict[str, Any]) -> httpx.Response:
    return client.post(f"/recipes/{recipe_id}/progress", json=message)


def _in_state(client: httpx.Client, recipe_id: int, state: str) -> Any:
    answer = client.get(f"/recipes/{recipe_id}")
    return answer.json() if answer.status_code == 200 and answer.json()["state"] == state else None


def _commands(client: httpx.Client, lab: str, recipe_id: int) -> list[dict[str, Any]]:
    found = client.get(f"/lab-controllers/{lab}/commands").json()["commands"]
    return [command for command in found if command["recipe_id"] == recipe_id]


def _position(answer: httpx.Response) -> str:
    return answer.headers["labledger-position"]
