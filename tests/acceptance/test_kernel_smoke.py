"""One recipe, from `labledger submit` to completed: all its events, and the answers of the API."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.harness.running import SAMPLES, Running
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.soak

SYSTEM = "store-01.west.example.com"
LAB = "lab.west.example.com"

# (topic, subject, the checked part of its data), in log order. Events of commands are separate: the lab
# (seed 1) reports them meanwhile, and the scheduler does not wait for them.
EXPECTED: list[tuple[str, str, dict[str, Any]]] = [
    ("job.submitted", "job/1", {"owner": "admin", "submitter": "admin", "group": "kernel-qe"}),
    ("recipe-set.submitted", "recipe-set/1", {"job_id": 1, "priority": "Normal", "recipe_ids": [1]}),
    ("recipe.new", "recipe/1", {"job_id": 1, "recipe_set_id": 1, "distro_tree_id": 1, "priority": "Normal"}),
    ("recipe.scheduled", "recipe/1", {"system": SYSTEM, "lab_controller": LAB}),
    ("system.scheduled", f"system/{SYSTEM}", {"recipe_id": 1}),
    ("recipe.waiting", "recipe/1", {"system": SYSTEM}),
    ("system.waiting", f"system/{SYSTEM}", {"recipe_id": 1}),
    ("recipe.installing", "recipe/1", {"system": SYSTEM}),
    ("system.installing", f"system/{SYSTEM}", {"recipe_id": 1}),
    ("recipe.running", "recipe/1", {"system": SYSTEM}),
    ("system.running", f"system/{SYSTEM}", {"recipe_id": 1}),
    ("recipe.task-started", "recipe/1", {"task_id": 1}),
    ("recipe.task-result", "recipe/1", {"task_id": 1, "result": "Pass", "score": 1.0}),
    ("recipe.task-result", "recipe/1", {"task_id": 1, "result": "Pass", "score": 2.0}),
    ("recipe.task-result", "recipe/1", {"task_id": 1, "result": "Pass", "score": 3.0}),
    ("recipe.task-completed", "recipe/1", {"task_id": 1}),
    ("recipe.task-started", "recipe/1", {"task_id": 2}),
    ("recipe.task-result", "recipe/1", {"task_id": 2, "result": "Pass", "score": 1.0}),
    ("recipe.task-completed", "recipe/1", {"task_id": 2}),
    ("recipe.completed", "recipe/1", {}),
    ("system.pending", f"system/{SYSTEM}", {}),
    ("system.idle", f"system/{SYSTEM}", {}),
]


def test_service__kernel_smoke_from_submit_to_completed__log_is_exactly_this(service: Running) -> None:
    before = service.end()
    _run(service)
    events = service.events(after=before)

    _check_whole_list(events)
    _check_causes(events)
    _check_answers(service, before)


def _run(service: Running) -> None:
    assert service.json("submit", str(SAMPLES / "kernel-smoke.xml"))
    wait_until(lambda: service.json("recipe", "1")["state"] == "waiting", "the recipe to wait on its system")
    lab = ("lab", "simulate", "--speed", "2000", "--seed", "1", "--lab-controller", LAB)
    simulator = service.start(*lab, name="lab")
    assert "completed" in service.labledger("watch", "1")
    wait_until(lambda: _is_idle(service), "the system to be idle again")
    wait_until(lambda: _ended_commands(service) == 2, "the lab to end its commands")
    simulator.terminate()
    simulator.wait(60)


def _is_idle(service: Running) -> bool:
    return SYSTEM in [system["fqdn"] for system in service.json("idle")["systems"]]


def _ended_commands(service: Running) -> int:
    return sum(event["topic"] == "command.completed" for event in service.events())


def _check_whole_list(events: list[dict[str, Any]]) -> None:
    positions = [event["position"] for event in events]
    assert positions == list(range(positions[0], positions[0] + len(positions)))
    commands = [event for event in events if event["subject"].startswith("command/")]
    ours = [event for event in events if event not in commands]
    assert [(event["topic"], event["subject"]) for event in ours] == [row[:2] for row in EXPECTED]
    for event, (_, _, data) in zip(ours, EXPECTED, strict=True):
        assert {name: event["data"][name] for name in data} == data
    waiting = next(event["position"] for event in events if event["topic"] == "recipe.waiting")
    completed = next(event["position"] for event in events if event["topic"] == "recipe.completed")
    assert [(event["topic"], event["subject"]) for event in commands] == [
        # The lab found this one waiting when it started, and says only that it has taken it.
        ("command.completed", f"command/{waiting}"),
        ("command.running", f"command/{completed}"),
        ("command.completed", f"command/{completed}"),
    ]


def _check_causes(events: list[dict[str, Any]]) -> None:
    by_topic = {event["topic"]: event for event in events}
    submitted = by_topic["recipe-set.submitted"]
    granted = [event for event in events if event["cause"] == f"event/{submitted['position']}"]
    assert [event["topic"] for event in granted] == [
        "recipe.scheduled",
        "system.scheduled",
        "recipe.waiting",
        "system.waiting",
    ]
    assert {event["commit_end"] for event in granted} == {granted[-1]["position"]}
    assert all(event["actor"] == "scheduler" and event["epoch"] == 1 for event in granted)
    assert all(event["basis"] == by_topic["recipe.new"]["position"] for event in granted)
    assert by_topic["system.idle"]["cause"] == f"event/{by_topic['system.pending']['position']}"
    for before, after in (("recipe.installing", "system.installing"), ("recipe.completed", "system.pending")):
        assert by_topic[before]["commit_end"] == by_topic[after]["commit_end"] == by_topic[after]["position"]
        assert by_topic[before]["basis"] is None


def _check_answers(service: Running, before: int) -> None:
    usage = _get(service, f"/systems/{SYSTEM}/usage")["intervals"]
    assert [row["usage"] for row in usage] == [
        *("idle", "pending", "idle"),
        *("scheduled", "waiting", "installing", "running", "pending", "idle"),
    ]
    assert all(one["until_position"] == two["since_position"] for one, two in itertools.pairwise(usage))
    history = [row["state"] for row in _get(service, "/recipes/1")["history"]]
    assert history == ["new", "scheduled", "waiting", "installing", "running", "completed"]
    assert _get(service, "/jobs/1")["result"] == "Pass"
    assert _get(service, "/queue")["recipes"] == []
    new = next(event for event in service.events(before) if event["topic"] == "recipe.new")["position"]
    assert [row["recipe_id"] for row in _get(service, "/queue", as_of=new)["recipes"]] == [1]
    assert SYSTEM in service.labledger("systems")
    assert "recipe.completed" in service.labledger("events", "--subject", "recipe/1")
    assert "Kernel smoke" in service.labledger("jobs")
    service.labledger("queue")


def _get(service: Running, path: str, **params: Any) -> Any:
    with service.client() as client:
        answer = client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()
