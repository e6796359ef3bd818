"""/inventory: an import with faults is refused as a whole, with every fault and its place."""

from __future__ import annotations

from typing import Any

import httpx

from tests.harness.running import Running
from tests.rest.actions import EAST, People, by_people
from tests.rest.systems.inventories import CSV, counts, export, take, take_table

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
    *(
        (1, "memory_mb"),
        (1, "lab_controller"),
        (1, "owner"),
        (2, "lab_controller"),
        (2, "pools[0]"),
    ),
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


def test_import__by_permission__changes_what_it_opens_and_no_more(
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
