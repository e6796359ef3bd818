"""Single reports of lab controllers: repeated, contradictory, in batches, and of failed commands."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until

XML = {"Content-Type": "application/xml"}


@pytest.fixture
def placed(client: httpx.Client, smoke: bytes) -> dict[str, Any]:
    """Return a recipe that waits on its system: its id, its task ids, its lab, and its command."""
    answer = client.post("/jobs", content=smoke, headers=XML).json()
    (recipe_id,) = answer["recipe_ids"]
    recipe = wait_until(lambda: _in_state(client, recipe_id, "waiting"), "the recipe to wait")
    lab = recipe["lab_controller"]
    commands = wait_until(lambda: _commands(client, lab, recipe_id), "the command")
    tasks = [task["task_id"] for task in recipe["tasks"]]
    return {"recipe_id": recipe_id, "tasks": tasks, "lab": lab, "command": commands[0]}


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
