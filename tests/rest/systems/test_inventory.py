"""/inventory: export and import of all systems, as JSON and as a table."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from api.intake.systems_csv import read_systems, write_systems
from tests.harness.running import Running
from tests.rest.actions import after, by_people, in_one_commit, shown
from tests.rest.systems.inventories import counts, export, exported, take, take_table
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
