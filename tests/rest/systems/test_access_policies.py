"""Access policies of pools and systems, and loans: requests and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import SAMPLES, Running
from tests.rest.actions import People, after, by_people, in_one_commit, recipe_for, submit, usage

VIEW = {"permission": "view", "everybody": True}
RESERVE = {"permission": "reserve", "everybody": True}
SUBMIT = {"permission": "submit", "everybody": True, "maximum_effective_priority": "Urgent"}
UNTIL = "2099-01-01T00:00:00Z"


@pytest.fixture
def pool(client: httpx.Client) -> Iterator[str]:
    """Yield a pool of the group kernel-qe, which alice owns and whose member is bob."""
    made = client.put("/pools/own", json={"owner_group": "kernel-qe"})
    client.get("/pools/own", params=after(made)).raise_for_status()
    yield policy_of("own")
    client.delete("/pools/own", params={"force": True})


def policy_of(pool: str) -> str:
    return f"/pools/{pool}/access-policy"


def entries(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["entries"]
    return found


def test_pool__policy_given_and_taken_away__as_its_people_say(
    client: httpx.Client, people: People, pool: str, service: Running
) -> None:
    assert entries(client.get(pool)) == []
    low = {**SUBMIT, "maximum_effective_priority": "Low"}
    given = people["bob"].put(pool, json={"entries": [low, VIEW, {**SUBMIT, "user": None}, VIEW]})
    # Each entry once, with the highest maximum, in canonical order.
    assert entries(given) == [VIEW, SUBMIT] and given.json()["changed"] is True
    assert in_one_commit(service, given) == [("pool/own", "pool.access-policy-changed")]
    shown = client.get(pool, params=after(given))
    assert (entries(shown), shown.json()["pool"]) == ([VIEW, SUBMIT], "own")
    assert "access_policy" not in client.get("/pools/own", params=after(given)).json()
    again = people["bob"].put(pool, json={"entries": [SUBMIT, VIEW]})
    assert (entries(again), again.json()["changed"]) == ([VIEW, SUBMIT], False)
    for refused in (people["carol"].put(pool, json={"entries": []}), people["carol"].delete(pool)):
        assert (refused.status_code, "kernel-qe" in refused.json()["detail"]) == (403, True)
    removed = people["alice"].delete(pool)
    assert (removed.status_code, removed.json()["removed"]) == (200, True)
    assert people["alice"].delete(pool).json()["removed"] is False
    assert entries(client.get(pool, params=after(removed))) == []
    assert entries(client.get(pool, params={"as_of": given.json()["position"]})) == [VIEW, SUBMIT]
    assert client.get("/pools/nobody/access-policy").status_code == 404
    assert client.put("/pools/nobody/access-policy", json={"entries": []}).status_code == 404


def test_pools__of_a_lab_that_was_loaded__have_the_policies_of_its_file(client: httpx.Client) -> None:
    pools = json.loads((SAMPLES / "lab.json").read_text("utf-8"))["pools"]
    for pool in pools:
        found = {frozenset(entry.items()) for entry in entries(client.get(policy_of(pool["name"])))}
        assert found == {frozenset(entry.items()) for entry in pool["access_policy"]} and found


def test_pool__put_again__keeps_its_policy(client: httpx.Client, pool: str) -> None:
    client.put(pool, json={"entries": [VIEW]})
    done = client.put("/pools/own", json={"owner_group": None})
    assert done.json()["changed"] is True
    assert entries(client.get(pool, params=after(done))) == [VIEW]
    client.delete("/pools/own", params={"force": True})
    done = client.put("/pools/own", json={"owner_group": None})
    assert entries(client.get(pool, params=after(done))) == []


def test_system__never_given_a_policy__open_and_as_of_then(client: httpx.Client, machine: str) -> None:
    path = f"/systems/{machine}/access-policy"
    before = client.get(path)
    assert (entries(before), before.json()["active_pool"]) == ([VIEW, RESERVE, SUBMIT], None)
    done = client.put(path, json={"entries": [VIEW]})
    now = client.get(path, params=after(done))
    assert (entries(now), now.json()["fqdn"]) == ([VIEW], machine)
    assert entries(client.get(path, params={"as_of": before.json()["position"]})) == [VIEW, RESERVE, SUBMIT]


def test_system__policy_of_a_pool_counts__only_of_one_it_is_in(
    client: httpx.Client, people: People, machine: str, pool: str, service: Running
) -> None:
    path = f"/systems/{machine}/access-policy"
    refused = client.put(path, json={"entries": [VIEW], "active_pool": "own"})
    assert (refused.status_code, "not in pool own" in refused.json()["detail"]) == (409, True)
    client.put(f"/pools/own/systems/{machine}", json={})
    client.put(pool, json={"entries": [VIEW]})
    assert client.put(path, json={"entries": [VIEW, RESERVE], "active_pool": "own"}).status_code == 200
    assert people["carol"].put(f"/systems/{machine}/reservation", json={}).status_code == 403
    left = people["bob"].delete(f"/pools/own/systems/{machine}")
    assert in_one_commit(service, left) == [
        ("pool/own", "pool.system-removed"),
        (f"system/{machine}", "system.access-policy-changed"),
    ]
    shown = client.get(path, params=after(left)).json()
    assert (shown["active_pool"], shown["entries"]) == (None, [VIEW, RESERVE])


def test_policy__everything_wrong__every_fault_named_and_nothing_stored(
    client: httpx.Client, machine: str, pool: str, service: Running
) -> None:
    before = service.end()
    path = f"/systems/{machine}/access-policy"
    misshaped = [{"permission": "fly"}, {"permission": "view", "user": "bad name"}, {"colour": "red"}]
    for where in (pool, path):
        assert client.put(where, json={"entries": misshaped}).status_code == 422
    wrong = [{"permission": "view"}, {"permission": "view", "user": "nobody", "group": "nobody"}]
    answer = client.put(path, json={"entries": [*wrong, SUBMIT | VIEW], "active_pool": "nowhere"})
    assert (answer.status_code, [fault["where"] for fault in answer.json()["errors"]]) == (
        422,
        [
            *("entries[0]", "entries[1]", "entries[1].user", "entries[1].group"),
            *("entries[2].maximum_effective_priority", "active_pool"),
        ],
    )
    assert by_people(service, before) == []


def test_policy__if_match__replaces_only_the_version_that_was_read(
    client: httpx.Client, machine: str, pool: str, service: Running
) -> None:
    for path in (pool, f"/systems/{machine}/access-policy"):
        etag = client.get(path).headers["etag"]
        body, match = {"entries": [VIEW]}, {"If-Match": etag}
        done = client.put(path, json=body, headers=match)
        assert done.status_code == 200
        assert client.put(path, json={"entries": []}, headers=match).status_code == 412
        assert client.get(path, params=after(done)).headers["etag"] != etag


def test_loan__of_a_system__shown_and_ended(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    path, subject = f"/systems/{machine}/loan", f"system/{machine}"
    lent = people["alice"].put(path, json={"user": "bob", "until": UNTIL})
    assert (lent.status_code, lent.json()["user"], lent.json()["until"]) == (200, "bob", UNTIL)
    assert in_one_commit(service, lent) == [(subject, "system.loaned")]
    shown = client.get(f"/systems/{machine}", params=after(lent)).json()
    assert (shown["loaned_to"], shown["loaned_until"], shown["user"]) == ("bob", UNTIL, None)
    before = service.end()
    assert people["alice"].put(path, json={"user": "bob", "until": UNTIL}).status_code == 200
    assert by_people(service, before) == []
    refused = people["alice"].put(path, json={"user": "carol"})
    assert (refused.status_code, "on loan to bob" in refused.json()["detail"]) == (409, True)
    assert people["carol"].delete(path).status_code == 403
    ended = people["bob"].delete(path)
    assert (ended.status_code, ended.json()["ended"]) == (200, True)
    assert people["alice"].delete(path).json()["ended"] is False
    assert client.get(f"/systems/{machine}", params=after(ended)).json()["loaned_to"] is None


def test_loan__everything_wrong__every_fault_named(
    client: httpx.Client, machine: str, service: Running
) -> None:
    before = service.end()
    answer = client.put(f"/systems/{machine}/loan", json={"user": "nobody", "until": "2020-01-01T00:00:00Z"})
    assert (answer.status_code, [fault["where"] for fault in answer.json()["errors"]]) == (
        422,
        ["user", "until"],
    )
    assert client.put(f"/systems/{machine}/loan", json={"untill": UNTIL}).status_code == 422
    assert client.put("/systems/no.example.com/loan", json={}).status_code == 404
    assert by_people(service, before) == []


def test_borrower__reserves_an_automated_system__out_of_the_idle_pool_until_it_is_returned(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    path = f"/systems/{machine}/reservation"
    assert people["bob"].put(path, json={}).status_code == 409
    assert people["alice"].put(f"/systems/{machine}/loan", json={"user": "bob"}).status_code == 200
    reserved = people["bob"].put(path, json={})
    assert (reserved.status_code, usage(client, machine, reserved)) == (200, ("running", None))
    idle = client.get("/idle-pool", params={"limit": 1000, **after(reserved)}).json()["systems"]
    assert machine not in [system["fqdn"] for system in idle]
    returned = people["bob"].delete(path)
    assert [topic for _, topic in in_one_commit(service, returned)] == [
        *("system.reservation-ended", "system.pending")
    ]


def test_loan__ends_while_a_recipe_runs__the_recipe_goes_on(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    client.put(f"/systems/{machine}/loan", json={"user": "alice"}).raise_for_status()
    done = submit(people["alice"], recipe_for(machine))
    recipe = client.get(f"/recipes/{done['recipe_ids'][0]}", params={"min_position": done["position"]}).json()
    ended = client.delete(f"/systems/{machine}/loan")
    assert [topic for _, topic in in_one_commit(service, ended)] == ["system.loan-ended"]
    assert client.get(f"/recipes/{recipe['recipe_id']}", params=after(ended)).json()["state"] not in (
        *("aborted", "cancelled"),
    )
    client.post(f"/jobs/{done['job_id']}/cancel", json={"reason": "over"})
