"""/lab-controllers/{fqdn}/registration: systems and what runs on them, in parts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, People, after, by_people, in_state, recipe_for, start, submit

PATH = f"/lab-controllers/{EAST}/registration"
NUMBERS = itertools.count(1)


def register(client: httpx.Client, instance: str, **more: Any) -> httpx.Response:
    return client.post(PATH, json={"instance": instance, "partition": "default", **more})


def statuses(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [item["status"] for item in (*answer.json()["systems"], *answer.json()["running"])]


@pytest.fixture
def instance() -> str:
    return f"start-{next(NUMBERS)}"


@pytest.fixture
def fresh(client: httpx.Client) -> Iterator[list[str]]:
    """Yield the names of systems that are not registered."""
    names = [f"found-{next(NUMBERS)}.east.example.com" for _ in range(3)]
    yield names
    for name in names:
        client.delete(f"/systems/{name}")


@pytest.fixture
def runs(client: httpx.Client, people: People, machine: str) -> Iterator[int]:
    """Yield a recipe that runs on the machine."""
    (recipe_id,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    start(people["east"], recipe_id)
    in_state(client, recipe_id, "running")
    yield recipe_id
    release = {"items": [{"release": {"recipe_id": recipe_id}}, {"vacant": machine}]}
    people["east"].post(f"/lab-controllers/{EAST}/updates", json=release)


def test_registration__systems__are_added_and_the_same_again_makes_no_event(
    client: httpx.Client, people: People, fresh: list[str], instance: str, service: Running
) -> None:
    systems = [{"fqdn": fqdn, "memory_mb": 5, "draining": True, "reason": "new"} for fqdn in fresh]
    first = register(people["east"], instance, systems=systems[:2])
    second = register(people["east"], instance, systems=systems[2:])
    assert (statuses(first), statuses(second)) == ([200, 200], [200])
    shown = client.get(f"/systems/{fresh[2]}", params=after(second)).json()
    assert (shown["memory_mb"], shown["draining"], shown["lab_controller"]) == (5, True, EAST)
    before = service.end()
    for name in (instance, f"{instance}-again"):
        for part in (systems[:2], systems[2:]):
            assert set(statuses(register(people["east"], name, systems=part))) == {200}
    assert by_people(service, before) == []


def test_registration__system_named_twice__is_rejected_the_second_time(
    people: People, fresh: list[str], instance: str
) -> None:
    a, b, c = ({"fqdn": fqdn} for fqdn in fresh)
    answer = register(people["east"], instance, systems=[a, b, a])
    assert statuses(answer) == [200, 200, 409]
    twice = answer.json()["systems"][2]["detail"]
    assert twice == f"system {fresh[0]} is named twice in this registration"
    assert statuses(register(people["east"], instance, systems=[b, c])) == [409, 200]
    # The same part again, because its answer was lost.
    assert statuses(register(people["east"], instance, systems=[a, b, a])) == [200, 200, 409]
    # A new instance begins anew.
    assert statuses(register(people["east"], f"{instance}-new", systems=[b, c])) == [200, 200]


def test_registration__late_part_of_an_instance_that_was_replaced__409_and_ends_nothing(
    client: httpx.Client, people: People, machine: str, runs: int, instance: str, service: Running
) -> None:
    running = [{"system": machine, "recipe_id": runs}]
    assert register(people["east"], instance, running=running, last=True).status_code == 200
    assert register(people["east"], f"{instance}-new", running=running).status_code == 200
    before = service.end()
    for partition in ("default", "elsewhere"):
        late = register(people["east"], instance, last=True, partition=partition, running=[{"system": "x"}])
        assert late.status_code == 409
        assert f"registration {instance} was replaced by {instance}-new" in late.json()["detail"]
    assert by_people(service, before) == []
    assert register(people["east"], f"{instance}-new", last=True, running=running).status_code == 200
    assert client.get(f"/recipes/{runs}").json()["state"] == "running"


def rejected(client: httpx.Client, answer: httpx.Response, **query: Any) -> list[dict[str, Any]]:
    shown = client.get("/reconciliations", params={"lab_controller": EAST, **after(answer), **query})
    found: list[dict[str, Any]] = shown.json()["rejected"]
    return found


def test_registration__rejected_items__are_listed_until_the_next_registration(
    client: httpx.Client, people: People, fresh: list[str], instance: str, service: Running
) -> None:
    systems = [{"fqdn": fresh[0]}, {"fqdn": fresh[0]}, {"fqdn": fresh[1], "memory_mb": -1}]
    first = register(people["east"], instance, systems=systems)
    listed = rejected(client, first)
    assert [(each["instance"], each["system"]) for each in listed] == [
        (instance, fresh[0]),
        (instance, fresh[1]),
    ]
    assert listed[0]["reason"] == f"system {fresh[0]} is named twice in this registration"
    before = service.end()
    register(people["east"], instance, systems=systems)
    assert by_people(service, before) == []
    further = register(people["east"], instance, running=[{"system": "nobody.example.com"}], last=True)
    assert [each["system"] for each in rejected(client, further)] == [*fresh[:2], "nobody.example.com"]
    assert rejected(client, further)[-1]["reason"] == "System nobody.example.com not found"
    ended = register(people["east"], f"{instance}-new", last=True)
    assert rejected(client, ended) == []
    assert rejected(client, ended, as_of=further.json()["position"])[:2] == listed


def test_registration__faulty_items_of_odd_characters__are_listed_with_escapes(
    client: httpx.Client, people: People, fresh: list[str], instance: str
) -> None:
    systems = [
        {"fqdn": fresh[0], "\0key\u202e": 1},
        {"fqdn": f"\0{fresh[1]}"},
        {"fqdn": fresh[2], **{f"{'k' * 100}{number}": number for number in range(100)}},
    ]
    running = [{"system": "\0x"}, {"system": "".join(map(chr, range(0x100, 0x1000)))}]
    answer = register(people["east"], instance, systems=systems, running=running)
    assert statuses(answer) == [422] * 5
    odd, name, long, *_ = rejected(client, answer)
    assert "\\u0000key\\u202e" in odd["reason"]
    assert name["system"] == f"\\u0000{fresh[1]}"
    assert (len(long["reason"]), long["reason"][-1]) == (1_000, "…")


def test_registration__another_partition_or_lab__each_item_is_rejected_with_the_reason(
    people: People, machine: str, fresh: list[str], instance: str, service: Running
) -> None:
    before = service.end()
    new, running = {"fqdn": fresh[0]}, {"system": machine}
    answer = register(
        people["east"], instance, partition="elsewhere", systems=[new], running=[running], last=True
    )
    assert statuses(answer) == [409, 409]
    reason = f"lab controller {EAST} is in partition default, not in elsewhere"
    assert answer.json()["systems"][0]["detail"] == reason
    subject = f"lab-controller/{EAST}"
    assert by_people(service, before) == [(subject, "lab-controller.items-rejected")]
    before = service.end()
    other = people["west"].post(
        PATH.replace("east", "west"),
        json={"instance": "w", "partition": "default", "systems": [{"fqdn": machine}], "running": [running]},
    )
    assert statuses(other) == [403, 403]
    assert people["west"].post(PATH, json={"instance": "w", "partition": "default"}).status_code == 403
    west = "lab-controller/lab.west.example.com"
    assert by_people(service, before) == [(west, "lab-controller.items-rejected")]


def test_registration__faults__good_items_count_and_a_faulty_message_does_not(
    people: People, fresh: list[str], instance: str, service: Running
) -> None:
    systems = [{"fqdn": fresh[0]}, {"fqdn": fresh[1], "memory_mb": -1}, {"colour": "red"}]
    assert statuses(register(people["east"], instance, systems=systems)) == [200, 422, 422]
    before = service.end()
    for faulty in ({"colour": "red"}, {"last": "yes"}, {"instance": ""}, {"systems": [{}] * 1_001}):
        body = {"instance": instance, "partition": "default", **faulty}
        assert people["east"].post(PATH, json=body).status_code == 422
    parts = {"systems": [{"fqdn": fresh[2]}] * 501, "running": [{"system": fresh[2]}] * 500}
    answer = register(people["east"], instance, **parts)
    assert answer.status_code == 422
    assert "send them in parts" in answer.text
    assert by_people(service, before) == []


def test_registration__recipe_is_named__goes_on(
    client: httpx.Client, people: People, machine: str, runs: int, instance: str, service: Running
) -> None:
    before = service.end()
    running = [{"system": machine, "recipe_id": runs, "attempt": 1}]
    assert statuses(register(people["east"], instance, running=running)) == [200]
    assert statuses(register(people["east"], instance, last=True)) == []
    assert client.get(f"/recipes/{runs}").json()["state"] == "running"
    # Other tests left rejections.
    assert {topic for _, topic in by_people(service, before)} <= {"lab-controller.items-rejected"}


def test_registration__recipe_is_not_named__is_aborted_after_the_last_part(
    client: httpx.Client, people: People, machine: str, runs: int, instance: str
) -> None:
    register(people["east"], instance)
    assert client.get(f"/recipes/{runs}").json()["state"] == "running"
    answer = register(people["east"], instance, last=True)
    recipe = client.get(f"/recipes/{runs}", params=after(answer)).json()
    assert (recipe["state"], recipe["reason"]) == ("aborted", "its lab controller does not run it any more")


def test_registration__recipe_waits_for_its_command__is_not_aborted(
    client: httpx.Client, people: People, machine: str, instance: str
) -> None:
    submitted = submit(people["alice"], recipe_for(machine))
    in_state(client, submitted["recipe_ids"][0], "waiting")
    answer = register(people["east"], instance, last=True)
    recipe = client.get(f"/recipes/{submitted['recipe_ids'][0]}", params=after(answer)).json()
    assert recipe["state"] == "waiting"
    people["alice"].post(f"/recipe-sets/{submitted['recipe_set_id']}/cancel", json={"reason": "seen"})


@pytest.mark.parametrize("item", [{}, {"recipe_id": 0}, {"state": "odd"}], ids=str)
def test_registration__something_without_a_name_runs_there__recipe_is_not_aborted(
    client: httpx.Client, people: People, machine: str, runs: int, instance: str, item: dict[str, Any]
) -> None:
    # It may be the recipe.
    answer = register(people["east"], instance, running=[{"system": machine, **item}], last=True)
    assert client.get(f"/recipes/{runs}", params=after(answer)).json()["state"] == "running"


def test_registration__occupied_system_is_not_named__is_vacated_after_the_last_part(
    client: httpx.Client, people: People, machine: str, instance: str
) -> None:
    occupied = register(people["east"], instance, running=[{"system": machine}], last=True)
    assert client.get(f"/systems/{machine}", params=after(occupied)).json()["occupied"] is not None
    answer = register(people["east"], f"{instance}-new", last=True)
    assert client.get(f"/systems/{machine}", params=after(answer)).json()["occupied"] is None


def test_registration__parts_of_an_older_instance__count_for_nothing_more(
    client: httpx.Client, people: People, machine: str, runs: int, instance: str
) -> None:
    register(people["east"], instance, running=[{"system": machine, "recipe_id": runs}])
    answer = register(people["east"], f"{instance}-new", last=True)
    assert client.get(f"/recipes/{runs}", params=after(answer)).json()["state"] == "aborted"
