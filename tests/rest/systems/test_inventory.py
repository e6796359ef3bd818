"""Inventories of systems: uploaded, used by the scheduler, and refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from api.intake.systems_csv import read_systems, write_systems
from tests.harness.running import Running
from tests.rest.actions import (
    EAST,
    WEST,
    People,
    after,
    by_people,
    cancel_set,
    in_one_commit,
    in_state,
    recipe_for,
    shown,
    start,
    submit,
)
from tests.rest.systems.inventories import CSV, counts, export, exported, take, take_table
from tests.rest.whole_system import OTHERWISE, WHOLE


def test_export__imported_again__changes_nothing_and_writes_no_event(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    machines(), machines(**{**WHOLE, "condition": "Automated"})
    systems = export(client, min_position=service.end())
    before = service.end()
    assert counts(take(client, *systems)) == (0, 0, len(systems))
    as_table = client.get("/inventory", params={"limit": 1000}, headers={"Accept": "text/csv"})
    assert as_table.headers["content-type"] == "text/csv"
    assert counts(take_table(client, as_table.text)) == (0, 0, len(systems))
    assert by_people(service, before) == []


def test_export__as_json_and_as_table__say_the_same(
    client: httpx.Client, machines: Any, service: Running
) -> None:
    machines(**{**WHOLE, "condition": "Automated"})
    at = {"as_of": service.end(), "limit": 1000}
    as_table = client.get("/inventory", params=at, headers={"Accept": "text/csv"})
    systems = export(client, **at)
    assert read_systems(as_table.content).systems == systems
    assert write_systems(systems) == as_table.text


@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
def test_export__page_by_page__every_system_once_and_filters_hold(
    client: httpx.Client, machines: Any, accept: str
) -> None:
    fqdns = sorted(machines(pools=["big"]) for _ in range(3))
    asked: dict[str, Any] = {"limit": 2, "pool": "big"}
    found, answer = [], client.get("/inventory", params=asked, headers={"Accept": accept})
    while True:
        is_table = accept == "text/csv"
        page = read_systems(answer.content).systems if is_table else answer.json()["systems"]
        assert len(page) <= 2 and all("big" in system["pools"] for system in page)
        found += [system["fqdn"] for system in page]
        if "next" not in answer.links:
            break
        answer = client.get(answer.links["next"]["url"], headers={"Accept": accept})
    assert found == sorted(found) and set(fqdns) <= set(found)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_import__new_and_registered_systems__one_commit_and_nothing_again(
    client: httpx.Client, machine: str, service: Running, form: str
) -> None:
    new = f"imported-{form}.east.example.com"
    systems = [
        {**WHOLE, "fqdn": new},
        {**exported(client, machine, service), "memory_mb": 77, "pools": ["big"]},
    ]
    before = service.end()
    answer = take(client, *systems) if form == "json" else take_table(client, write_systems(systems))
    assert counts(answer) == (1, 1, 0)
    assert in_one_commit(service, answer) == [
        (f"system/{new}", "system.registered"),
        ("pool/big", "pool.system-added"),
        (f"system/{machine}", "system.inventory-changed"),
        ("pool/big", "pool.system-added"),
    ]
    found = shown(client, new, answer)
    assert {name: found[name] for name in WHOLE} == WHOLE
    found = shown(client, machine, answer)
    assert (found["memory_mb"], found["pools"], found["arches"]) == (77, ["big"], ["x86_64"])
    then = service.end()
    assert counts(take(client, *systems)) == (0, 0, 2)
    assert by_people(service, then) == [] and by_people(service, before) != []
    client.delete(f"/pools/big/systems/{machine}")
    client.delete(f"/systems/{new}")


def test_dry_run__of_changes__shows_each_and_stores_nothing(
    client: httpx.Client, machine: str, service: Running
) -> None:
    before = service.end()
    change = {"fqdn": machine, "memory_mb": None, "cpu": {"cores": 2}, "condition": "Broken"}
    answer = take(client, change, {"fqdn": "new.east.example.com", **WHOLE}, dry_run="true")
    assert counts(answer) == (1, 1, 0)
    changed, added = answer.json()["systems"]
    assert (changed["fqdn"], changed["added"]) == (machine, False)
    assert changed["changes"] == [
        {"property": "condition", "from": "Automated", "to": "Broken"},
        {"property": "cpu.cores", "from": None, "to": 2},
        {"property": "memory_mb", "from": 16, "to": None},
    ]
    assert added["added"] and {"property": "owner", "from": None, "to": "alice"} in added["changes"]
    assert by_people(service, before) == []


def test_import__out_of_the_pool_whose_policy_counts__its_own_counts_again(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    fqdn = machines(pools=["big"])
    policy = {"entries": [], "active_pool": "big"}
    assert client.put(f"/systems/{fqdn}/access-policy", json=policy).is_success
    answer = take(client, {"fqdn": fqdn, "pools": []})
    assert in_one_commit(service, answer) == [
        ("pool/big", "pool.system-removed"),
        (f"system/{fqdn}", "system.access-policy-changed"),
    ]
    assert client.get(f"/systems/{fqdn}/access-policy", params=after(answer)).json()["active_pool"] is None


def test_import__same_key_again__first_answer_and_nothing_twice(
    client: httpx.Client, machine: str, service: Running
) -> None:
    body, key = {"systems": [{"fqdn": machine, "vendor": "keyed"}]}, {"Idempotency-Key": f"key of {machine}"}
    first = client.post("/inventory", json=body, headers=key)
    client.patch(f"/systems/{machine}", json={"vendor": "other"})
    before = service.end()
    again = client.post("/inventory", json=body, headers=key)
    assert again.json() == first.json() and counts(again) == (0, 1, 0)
    assert by_people(service, before) == []
    other = {"systems": [{"fqdn": machine, "vendor": "another"}]}
    assert client.post("/inventory", json=other, headers=key).status_code == 422


def test_import__every_property_changed__is_as_imported(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn = machines(**{**WHOLE, "condition": "Automated"})
    answer = take_table(client, write_systems([{"fqdn": fqdn, "pools": [], **OTHERWISE}]))
    found = shown(client, fqdn, answer)
    assert {name: found[name] for name in OTHERWISE} == OTHERWISE
    assert (found["owner"], found["pools"], found["added_at"]) == ("alice", [], WHOLE["added_at"])


def test_import__same_at_once_from_many__each_is_answered_and_it_happens_once(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    fqdns = [machines() for _ in range(3)]
    before = service.end()

    def once(_: int) -> tuple[int, int, int]:
        with service.client() as own:
            return counts(take(own, *({"fqdn": fqdn, "serial": "7"} for fqdn in fqdns)))

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(once, range(4)))
    assert sorted(outcomes) == [(0, 0, 3)] * 3 + [(0, 3, 0)]
    assert by_people(service, before) == [(f"system/{fqdn}", "system.inventory-changed") for fqdn in fqdns]


def test_import__conditions_of_systems_at_work__recipes_end_as_by_single_changes(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    first, second, spare = machines(), machines(), machines()
    recipes = submit(client, recipe_for(first), recipe_for(second))["recipe_ids"]
    start(client, recipes[0])
    broken = [{"fqdn": fqdn, "condition": "Broken"} for fqdn in (first, second)]
    answer = take(client, *broken, {"fqdn": spare, "location": "there"})
    assert counts(answer) == (0, 3, 0)
    assert in_one_commit(service, answer) == [
        (f"system/{first}", "system.condition-changed"),
        (f"recipe/{recipes[0]}", "recipe.aborted"),
        (f"system/{first}", "system.idle"),
        (f"system/{second}", "system.condition-changed"),
        (f"recipe/{recipes[1]}", "recipe.aborted"),
        (f"system/{second}", "system.idle"),
        (f"system/{spare}", "system.inventory-changed"),
    ]


def test_import__two_systems_of_a_set_that_waits_for_a_third__each_seen_as_the_one_before_left_it(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    first, second, busy = machines(), machines(), machines()
    in_state(client, submit(client, recipe_for(busy))["recipe_ids"][0], "waiting")
    submitted = submit(client, *map(recipe_for, (first, second, busy)))
    recipes = submitted["recipe_ids"]
    for recipe_id in recipes[:2]:
        in_state(client, recipe_id, "scheduled")
    answer = take(client, *({"fqdn": fqdn, "condition": "Broken"} for fqdn in (first, second)))
    cancel_set(client, submitted)
    events = in_one_commit(service, answer)
    assert events[:3] == [
        (f"system/{first}", "system.condition-changed"),
        (f"recipe/{recipes[0]}", "recipe.assigned"),
        (f"system/{first}", "system.idle"),
    ]
    assert sorted(events[3:]) == sorted(
        [
            (f"system/{second}", "system.condition-changed"),
            *((f"recipe/{recipe_id}", "recipe.queued") for recipe_id in recipes),
            (f"system/{second}", "system.idle"),
        ]
    )


def test_import__lab_of_a_system_at_work__409_and_nothing_stored(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    busy, idle = machines(), machines()
    start(client, submit(client, recipe_for(busy))["recipe_ids"][0])
    before = service.end()
    answer = take(client, {"fqdn": idle, "vendor": "x"}, {"fqdn": busy, "lab_controller": WEST})
    assert answer.status_code == 409 and busy in answer.json()["detail"]
    assert by_people(service, before) == []


FAULTY_ROWS = [
    # A valid system, which is not stored either.
    {"fqdn": "good.east.example.com", "lab_controller": EAST, "owner": "alice"},
    # Values, unknown names (an equal owner is reported once), and required fields of a new system.
    {"fqdn": "bad.east.example.com", "memory_mb": -1, "lab_controller": "no host!", "owner": "nobody"},
    {"fqdn": "no.east.example.com", "lab_controller": "no.such", "owner": "nobody", "pools": ["nowhere"]},
    {"fqdn": "new.east.example.com"},
    # The same name twice, in upper and lower case.
    {"fqdn": "GOOD.east.example.com", "lab_controller": EAST, "owner": "alice"},
]
PLACES = [
    *((1, "memory_mb"), (1, "lab_controller"), (1, "owner"), (2, "lab_controller"), (2, "pools[0]")),
    *((3, "lab_controller"), (3, "owner"), (4, "fqdn")),
]


def test_import__faults_in_many_systems__all_reported_with_their_places_and_nothing_stored(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    answer = take(client, *FAULTY_ROWS)
    assert answer.status_code == 422
    assert [fault["where"] for fault in answer.json()["errors"]] == [
        f"systems[{number}].{field}" for number, field in PLACES
    ]
    header = "fqdn,memory_mb,lab_controller,owner,pools,devices"
    rows = [",".join(map(_cell, (row.get(name) for name in header.split(",")))) for row in FAULTY_ROWS]
    rows[0] += "{"
    answer = take_table(client, "\n".join([header, *rows]))
    assert [fault["where"] for fault in answer.json()["errors"]] == [
        *["row 2, column devices"],
        *(f"row {number + 2}, column {field}" for number, field in PLACES),
    ]
    assert by_people(service, before) == []


def _cell(value: Any) -> str:
    return "" if value is None else " ".join(value) if isinstance(value, list) else str(value)


def test_import__no_inventory_at_all__is_refused(client: httpx.Client) -> None:
    assert (
        client.post("/inventory", content=b"fqdn", headers={"Content-Type": "text/plain"}).status_code == 415
    )
    assert take_table(client, "fqdn,colour\n").status_code == 422
    assert client.post("/inventory", content=b"\xff", headers=CSV).status_code == 400
    assert client.post("/inventory", json=[]).status_code == 422
    assert client.post("/inventory", json={"systems": [{}], "users": []}).status_code == 422
    answer = take(client, *[{"fqdn": "a.b"}] * 1001)
    assert "1000" in answer.json()["errors"][0]["message"]
    answer = take_table(client, "fqdn\n" + "a.b\n" * 1001)
    assert "1000" in answer.json()["errors"][0]["message"]


def test_import__by_people__owners_change_theirs_and_admins_add(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    systems = export(client, min_position=service.end())
    mine = next(system for system in systems if system["fqdn"] == machine)
    # Unchanged systems need no permission.
    assert counts(take(people["alice"], *systems)) == (0, 0, len(systems))
    changed = {**mine, "vendor": "ACME"}
    assert counts(take(people["alice"], changed)) == (0, 1, 0)
    before = service.end()
    refused = take(people["carol"], {**mine, "vendor": "x"}, {**mine, "fqdn": "new.east.example.com"})
    assert refused.status_code == 403
    assert "belongs to alice" in refused.json()["detail"] and "only an admin" in refused.json()["detail"]
    refused = take(people["carol"], {"fqdn": machine, "pools": ["big"]})
    assert refused.status_code == 403 and "pool big" in refused.json()["detail"]
    assert people["east"].post("/inventory", json={"systems": []}).status_code == 403
    assert by_people(service, before) == []


def test_import__by_permission__changes_only_the_permitted_fields(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    entries = [{"permission": "edit_system", "user": "bob"}]
    assert client.put(f"/systems/{machine}/access-policy", json={"entries": entries}).is_success
    assert counts(take(people["bob"], {"fqdn": machine, "vendor": "bob's", "owner": "alice"})) == (0, 1, 0)
    before = service.end()
    # Only the owner may change the owner; a hidden system is reported as missing.
    refused = take(people["bob"], {"fqdn": machine, "owner": "bob"})
    assert refused.status_code == 403 and "only its owner" in refused.json()["detail"]
    for vendor in ("bob's", "carol's"):
        hidden = {"fqdn": machine, "lab_controller": EAST, "owner": "alice", "vendor": vendor}
        refused = take(people["carol"], hidden)
        assert refused.status_code == 403 and refused.json()["detail"] == "only an admin may add systems"
    assert by_people(service, before) == []


def test_import__equal_unknown_names__are_one_fault_that_counts(client: httpx.Client) -> None:
    alike = {"lab_controller": EAST, "owner": "nobody", "pools": ["no"]}
    answer = take(client, *({"fqdn": f"equal-{number}.east.example.com", **alike} for number in range(4)))
    assert answer.status_code == 422
    faults = [(fault["where"], fault["message"].partition(" (")[2]) for fault in answer.json()["errors"]]
    assert faults == [
        ("systems[0].owner", "also for 3 other systems)"),
        ("systems[0].pools[0]", "also for 3 other systems)"),
    ]
