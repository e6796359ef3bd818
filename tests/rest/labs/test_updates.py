"""Updates by labs: items, repetitions, and changes that they leave to people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from api.intake.limits import MAX_FAULTS
from api.rest.resources.updates import MAX_LISTED_FAULTS
from tests.harness.running import Running
from tests.rest.actions import (
    EAST,
    WEST,
    People,
    after,
    answers_to,
    by_people,
    commands,
    finish,
    happened,
    in_state,
    recipe_for,
    start,
    submit,
    usage,
)

PATH = f"/lab-controllers/{EAST}/updates"
NUMBERS = itertools.count(1)


@pytest.fixture
def fresh(client: httpx.Client) -> Iterator[str]:
    """Yield the name of a system that is not registered."""
    fqdn = f"told-{next(NUMBERS)}.east.example.com"
    yield fqdn
    client.delete(f"/systems/{fqdn}")


def test_system__unknown__is_added_to_the_lab(
    client: httpx.Client, people: People, fresh: str, service: Running
) -> None:
    document = {"fqdn": fresh, "memory_mb": 5, "type": "Machine", "condition": "Manual"}
    assert _statuses(_tell(people["east"], {"system": {**document, "owner": "alice"}})) == [403]
    answer = _tell(people["east"], {"system": document})
    assert _statuses(answer) == [200]
    shown = client.get(f"/systems/{fresh}", params=after(answer)).json()
    assert (shown["lab_controller"], shown["owner"], shown["pools"]) == (EAST, "lab-ops", [])
    assert (shown["condition"], shown["memory_mb"]) == ("Manual", 5) and shown["added_at"]
    before = service.end()
    assert _statuses(_tell(people["east"], {"system": document})) == [200]
    assert by_people(service, before) == []


def test_system__registered__changes_the_reported_fields_and_keeps_its_condition(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    client.patch(f"/systems/{machine}", json={"condition": "Broken", "reason": "smoke"})
    before = service.end()
    answer = _tell(people["east"], {"system": {"fqdn": machine, "memory_mb": 99}})
    subject = f"system/{machine}"
    assert happened(service, before) == [(subject, "system.inventory-changed")]
    assert client.get(f"/systems/{machine}", params=after(answer)).json()["condition"] == "Broken"
    back = {"fqdn": machine, "condition": "Automated", "reason": "repaired"}
    _tell(people["east"], {"system": back})
    assert (subject, "system.pending") in happened(service, before)


def test_create__draining__takes_nothing_until_it_is_undrained(
    client: httpx.Client, people: People, fresh: str, service: Running
) -> None:
    new = {"create": {"fqdn": fresh, "draining": True, "reason": "not cabled yet"}}
    before = service.end()
    answer = _tell(people["east"], new)
    assert _statuses(answer) == [200]
    subject = f"system/{fresh}"
    assert happened(service, before) == [(subject, "system.registered"), (subject, "system.drained")]
    shown = client.get(f"/systems/{fresh}", params=after(answer)).json()
    assert (shown["draining"], shown["condition"], usage(client, fresh)) == (
        True,
        "Automated",
        ("idle", None),
    )
    # It only adds: another system, or a repeated message, is refused.
    (again,) = _tell(people["east"], new).json()["items"]
    assert (again["status"], again["detail"]) == (
        409,
        f"system {fresh} exists; change it, or its condition if it is Removed",
    )
    before = service.end()
    _tell(people["east"], {"undrain": fresh})
    assert (subject, "system.pending") in happened(service, before)


def test_create__for_another_lab_or_owner__is_refused(
    client: httpx.Client, people: People, fresh: str, service: Running
) -> None:
    before = service.end()
    items = [{"create": {"fqdn": fresh, **more}} for more in ({"owner": "alice"}, {"lab_controller": WEST})]
    assert _statuses(_tell(people["east"], *items)) == [403, 403]
    assert happened(service, before) == []


def test_items__drain_undrain_remove__done_in_the_order_given(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    before = service.end()
    items = [{"drain": machine}, {"undrain": machine}, {"drain": machine}, {"remove": machine}]
    answer = _tell(people["east"], *items, {"drain": machine})
    assert _statuses(answer) == [200] * 5
    positions = [item["position"] for item in answer.json()["items"]]
    assert positions == sorted(positions)
    topics = [topic for subject, topic in happened(service, before, f"system/{machine}")]
    assert [topic for topic in topics if topic not in ("system.pending", "system.idle")] == [
        *("system.drained", "system.undrained", "system.drained", "system.condition-changed")
    ]
    client.patch(f"/systems/{machine}", json={"draining": False})


def test_release__recipe_that_runs__is_aborted_and_one_that_keeps_its_system_is_over(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    kept_on, runs_on = machines(), machines()
    keeps = {"reservesys": {"duration_seconds": 7200, "when": "always"}}
    (kept,) = submit(client, recipe_for(kept_on, **keeps))["recipe_ids"]
    finish(client, kept, start(client, kept))
    (runs,) = submit(client, recipe_for(runs_on))["recipe_ids"]
    start(client, runs)
    items = [{"release": {"recipe_id": number}} for number in (kept, runs, 999_999, kept)]
    answer = _tell(people["east"], *items)
    assert _statuses(answer) == [200, 200, 404, 200]
    assert client.get(f"/recipes/{kept}", params=after(answer)).json()["state"] == "completed"
    aborted = client.get(f"/recipes/{runs}").json()
    assert (aborted["state"], aborted["reason"]) == ("aborted", "released by its lab controller")
    (completed,), (given_up,) = (_releases(people["east"], system) for system in (kept_on, runs_on))
    assert (completed["reason"], given_up["reason"]) == (None, "released by its lab controller")


def _releases(lab: httpx.Client, system: str) -> list[dict[str, Any]]:
    return [command for command in commands(lab, EAST, system) if command["kind"] == "release"]


def test_progress__between_other_items__all_in_order(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    """The system breaks after the first task started, so later reports are refused."""
    one, other = machines(), machines()
    (recipe_id,) = submit(client, recipe_for(one))["recipe_ids"]
    first, _ = (task["task_id"] for task in in_state(client, recipe_id, "waiting")["tasks"])
    answer = _tell(
        people["east"],
        {"progress": {"recipe_id": recipe_id, "state": "installing"}},
        {"progress": {"recipe_id": recipe_id, "state": "running", "task_id": first}},
        {"progress": {"recipe_id": recipe_id, "watchdog_seconds": 60}},
        {"system": {"fqdn": one, "condition": "Broken", "reason": "smoke"}},
        {"drain": other},
        {"progress": {"recipe_id": recipe_id, "task_id": first, "result": "Pass"}},
        {"undrain": other},
    )
    assert _statuses(answer) == [200, 200, 200, 200, 200, 409, 200]
    assert usage(client, one, answer) == ("idle", None)


def test_siblings_and_guests__many_items__one_commit_for_the_set(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    one, other = machines(), machines()
    recipes = submit(client, recipe_for(one, guests=1), recipe_for(other))["recipe_ids"]
    for recipe_id in recipes:
        in_state(client, recipe_id, "waiting")
    before = service.end()
    answer = _tell(
        people["east"],
        *({"progress": {"recipe_id": number, "state": "installing"}} for number in recipes),
        {"progress": {"recipe_id": recipes[0], "state": "aborted", "reason": "no power"}},
        {"progress": {"recipe_id": recipes[1], "state": "running", "task_id": 1}},
    )
    # The guest ended with its host.
    assert _statuses(answer) == [200, 200, 200, 200, 409]
    assert len({event["commit_end"] for event in service.events(before) if event["actor"] == "lab-ops"}) == 1
    assert client.get(f"/recipes/{recipes[2]}", params=after(answer)).json()["state"] == "installing"


WRONG: list[tuple[Any, list[str]]] = [
    ({"colour": "red"}, ["colour"]),
    ({}, ["body"]),
    ({"drain": "x", "remove": "x"}, ["body"]),
    ({"drain": 7}, ["drain"]),
    ({"release": {}}, ["release.recipe_id"]),
    ({"progress": {"recipe_id": "x", "state": "asleep"}}, ["progress.recipe_id", "progress.state"]),
    (
        {"system": {"memory_mb": -1, "condition": "Odd"}},
        ["system.condition", "system.fqdn", "system.memory_mb"],
    ),
    ({"system": {"fqdn": "wrong.example.com", "owner": "no", "pools": ["no"]}}, ["owner", "pools"]),
]


def test_items__wrong__each_names_its_faults_and_holds_up_no_other(
    people: People, machine: str, service: Running
) -> None:
    items = [item for item, _ in WRONG]
    answer = _tell(people["east"], *items, {"drain": machine}, {"undrain": machine})
    assert _statuses(answer) == [*[422] * len(WRONG), 200, 200]
    for (_, places), item in zip(WRONG, answer.json()["items"], strict=False):
        assert sorted(fault["where"] for fault in item["errors"]) == places


def test_items__many_with_many_faults__share_a_bound_of_faults_in_words(people: People, machine: str) -> None:
    faulty = {f"field{number}": 1 for number in range(MAX_FAULTS + 50)}
    answer = _tell(people["east"], *[faulty] * 60, {"drain": machine}, {"undrain": machine})
    assert _statuses(answer) == [*[422] * 60, 200, 200]
    messages_of = [[fault["message"] for fault in item["errors"]] for item in answer.json()["items"][:60]]
    worded = sum("is an unknown field" in message for messages in messages_of for message in messages)
    assert 0 < worded <= MAX_LISTED_FAULTS
    assert messages_of[0][-1] == "and 50 more errors"
    # Every faulty item has its number of faults.
    assert messages_of[-1] == [f"and {len(faulty)} more errors"]


def test_items__of_another_lab__403(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    before = service.end()
    items: list[dict[str, Any]] = [{name: machine} for name in ("drain", "undrain", "remove")]
    items += [{"system": {"fqdn": machine, "memory_mb": 1}}, {"release": {"recipe_id": recipe_id}}]
    items += [{"progress": {"recipe_id": recipe_id, "state": "installing"}}]
    answer = people["west"].post(f"/lab-controllers/{WEST}/updates", json={"items": items})
    assert _statuses(answer) == [403] * 6
    stolen = _tell(people["east"], {"system": {"fqdn": machine, "lab_controller": WEST}})
    assert _statuses(stolen) == [403]
    unknown = _tell(people["east"], {"drain": "no.example.com"})
    assert _statuses(unknown) == [404]
    assert by_people(service, before) == []


def test_systems__sixty_in_one_message__all_are_added(people: People, client: httpx.Client) -> None:
    names = [f"many-{number}.east.example.com" for number in range(60)]
    items = [{"system": {"fqdn": fqdn, "condition": "Removed", "pools": ["small"]}} for fqdn in names]
    answer = _tell(client, *items)
    assert set(_statuses(answer)) == {200}
    systems = client.get("/systems", params={**after(answer), "limit": 1000}).json()["systems"]
    assert {row["fqdn"] for row in systems if "small" in row["pools"]} >= set(names)


def test_commands__many_in_one_message__each_is_answered_and_the_good_ones_are_one_commit(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    one, other = machines(), machines()
    hosts = [submit(client, recipe_for(fqdn))["recipe_ids"][0] for fqdn in (one, other)]
    for recipe_id in hosts:
        in_state(client, recipe_id, "waiting")
    client.get("/queue", params={"min_position": service.end()})
    first, second = (commands(people["east"], EAST, fqdn)[0]["id"] for fqdn in (one, other))
    reports: list[dict[str, Any]] = [
        {"command": {"id": first, "state": "completed"}},
        {"command": {"id": first, "state": "running"}},
        {"progress": {"recipe_id": hosts[0], "state": "installing"}},
        {"command": {"id": 2**40, "state": "running"}},
        {"command": {"id": second, "state": "asleep"}},
        {"command": {"id": second, "state": "running"}},
    ]
    answer = _tell(people["east"], *reports)
    assert _statuses(answer) == [200, 409, 200, 404, 422, 200]
    assert len({item["position"] for item in answer.json()["items"] if item["status"] == 200}) == 1
    client.get("/queue", params=after(answer))
    found = [commands(people["east"], EAST, fqdn)[0]["state"] for fqdn in (one, other)]
    assert found == ["completed", "running"]
    beyond = client.patch(f"/lab-controllers/{EAST}/commands/{2**63}", json={"state": "running"})
    assert beyond.status_code == 404
    west = {"command": {"id": second, "state": "completed"}}
    assert _statuses(people["west"].post(f"/lab-controllers/{WEST}/updates", json={"items": [west]})) == [404]
    before = service.end()
    assert _statuses(_tell(people["east"], reports[-1])) == [200]
    assert by_people(service, before) == []
    for recipe_id in hosts:
        client.post(f"/recipes/{recipe_id}/progress", json={"state": "aborted", "reason": "seen"})


def test_command__to_provision_failed__its_recipe_ends_in_the_same_commit(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    client.get("/queue", params={"min_position": service.end()})
    (command,) = commands(people["east"], EAST, machine)
    failed = {"id": command["id"], "state": "failed", "reason": "no power"}
    before = service.end()
    answer = _tell(
        people["east"], {"command": failed}, {"progress": {"recipe_id": recipe_id, "state": "installing"}}
    )
    assert _statuses(answer) == [200, 409]
    position = answer.json()["items"][0]["position"]
    topics = [(e["subject"], e["topic"]) for e in service.events(before) if e["commit_end"] == position]
    assert topics == [
        (f"command/{command['id']}", "command.failed"),
        (f"recipe/{recipe_id}", "recipe.aborted"),
        (f"system/{machine}", "system.pending"),
        (f"system/{machine}", "system.provisioning-failed"),
    ]


def _tell(client: httpx.Client, *items: dict[str, Any]) -> httpx.Response:
    answer = client.post(PATH, json={"items": list(items)})
    assert answer.status_code == 200, answer.text
    return answer


def _statuses(answer: httpx.Response) -> list[int]:
    return [item["status"] for item in answer.json()["items"]]


KEY = {"Idempotency-Key": "once"}


def test_message__again_under_its_key__same_answers_and_nothing_new(
    client: httpx.Client, people: dict[str, httpx.Client], machines: Callable[..., str], service: Running
) -> None:
    one, other = machines(), machines()
    (recipe_id,) = submit(client, recipe_for(one))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    items: list[dict[str, Any]] = [
        {"progress": {"recipe_id": recipe_id, "state": "installing"}},
        {"progress": {"recipe_id": recipe_id, "watchdog_seconds": 60}},
        {"colour": "red"},
        {"progress": {"recipe_id": recipe_id, "state": "completed"}},
        {"drain": other},
        {"undrain": other},
        {"system": {"fqdn": other, "memory_mb": 77}},
        {"release": {"recipe_id": recipe_id}},
    ]
    first = people["east"].post(PATH, json={"items": items}, headers=KEY)
    assert [item["status"] for item in first.json()["items"]] == [200, 200, 422, 409, 200, 200, 200, 200]
    # The scheduler answers that a system is free.
    in_state(client, recipe_id, "aborted")
    before = [event for event in service.events() if event["actor"] == "lab-ops"]
    again = people["east"].post(PATH, json={"items": items}, headers=KEY)
    assert again.json()["items"] == first.json()["items"]
    assert [event for event in service.events() if event["actor"] == "lab-ops"] == before


def test_message__another_under_the_same_key__422(people: dict[str, httpx.Client], machine: str) -> None:
    key = {"Idempotency-Key": "twice"}
    for body, status in (([{"drain": machine}], 200), ([{"undrain": machine}], 422)):
        answer = people["east"].post(PATH, json={"items": body}, headers=key)
        assert answer.status_code == status, answer.text
    people["east"].post(PATH, json={"items": [{"undrain": machine}]})


def test_message__without_a_key__watchdog_counts_anew(
    client: httpx.Client, people: dict[str, httpx.Client], machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    items = [{"progress": {"recipe_id": recipe_id, "watchdog_seconds": 60}}]
    before = service.end()
    for _ in range(2):
        people["east"].post(PATH, json={"items": items})
    topics = [event["topic"] for event in service.events(before) if event["subject"] == f"recipe/{recipe_id}"]
    assert topics.count("recipe.watchdog-set") == 2


def test_updates__drained_and_then_released__takes_nothing_new(
    client: Any, people: Any, machine: str, service: Running
) -> None:
    first = submit(people["alice"], recipe_for(machine))["recipe_ids"][0]
    start(people["east"], first)
    waiting = submit(people["alice"], recipe_for(machine))
    in_state(client, waiting["recipe_ids"][0], "queued")
    before = service.end()
    answers = answers_to(people["east"], {"drain": machine}, {"release": {"recipe_id": first}})
    assert [item["status"] for item in answers] == [200, 200]
    topics = [topic for _, topic in happened(service, before, f"system/{machine}")]
    people["alice"].post(f"/recipe-sets/{waiting['recipe_set_id']}/cancel", json={"reason": "not needed"})
    assert topics == ["system.drained", "system.idle"]


def test_updates__pools_of_a_new_system__are_not_a_lab_controllers_to_choose(
    client: Any, people: Any
) -> None:
    assert client.put("/pools/of-others", json={}).status_code == 200
    system = {"fqdn": "intruder.east.example.com", "owner": "alice", "pools": ["of-others"]}
    (answers,) = answers_to(people["east"], {"system": system})
    assert answers["status"] == 422
    assert "pools" in str(answers["errors"])
    assert client.get("/systems/intruder.east.example.com").status_code == 404


def test_updates__same_new_system_reported_at_once__succeeds_for_each(people: Any, service: Running) -> None:
    system = {"fqdn": "twice.east.example.com", "arches": ["x86_64"], "condition": "Manual"}

    def once(_: int) -> int:
        with service.client() as own:
            own.headers["authorization"] = people["east"].headers["authorization"]
            return int(answers_to(own, {"system": system})[0]["status"])

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(once, range(6))) == [200] * 6


def test_updates__item_larger_than_a_body_may_be__is_refused(people: Any, machine: str) -> None:
    large = {"K": ["x" * 4000] * 300}
    (answers,) = answers_to(people["east"], {"system": {"fqdn": machine, "key_values": large}})
    assert answers["status"] == 422
    assert "larger than" in str(answers["errors"])


@pytest.mark.parametrize("speed", [1e19, 1e20, 1e300])
def test_system__speed_beyond_all_machines__is_refused(
    client: Any, people: Any, machine: str, speed: float
) -> None:
    answer = people["alice"].patch(f"/systems/{machine}", json={"cpu": {"speed_mhz": speed}})
    assert answer.status_code == 422
    assert client.get(f"/systems/{machine}").status_code == 200


def test_cancel__same_key_at_once__same_answer(people: Any, machine: str, service: Running) -> None:
    for number in range(6):
        recipe_set_id = submit(people["alice"], recipe_for(machine))["recipe_set_id"]
        key = {"Idempotency-Key": f"at-once-{number}"}

        def once(
            _: int, path: str = f"/recipe-sets/{recipe_set_id}/cancel", key: dict[str, str] = key
        ) -> Any:
            with service.client() as own:
                own.headers["authorization"] = people["alice"].headers["authorization"]
                answer = own.post(path, json={"reason": "not needed"}, headers=key)
                return answer.status_code, answer.headers["labledger-position"], answer.json()

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(once, range(4)))
        assert all(answer == answers[0] for answer in answers), answers


def test_system__name_that_differs_only_in_case__is_taken(client: Any, machine: str) -> None:
    # A job that forces a system by name must name exactly one.
    system = {"fqdn": machine.upper(), "lab_controller": EAST, "owner": "alice", "condition": "Manual"}
    answer = client.post("/systems", json=system)
    assert answer.status_code == 409
    assert machine in answer.json()["detail"]
