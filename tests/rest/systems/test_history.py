"""History and usage of systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from api.rest.paging import PageAt
from api.rest.resources.usage import _page
from projections.reader import At
from tests.harness.running import Running
from tests.rest.actions import EAST, WEST, People, finish, recipe_for, start, submit
from tests.rest.whole_system import WHOLE


def history(client: httpx.Client, fqdn: str, service: Running, **asked: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/systems/{fqdn}/history", params={"min_position": service.end(), **asked})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["changes"]
    return found


def summary(change: dict[str, Any]) -> tuple[str, str, dict[str, tuple[Any, Any]]]:
    """Return actor, topic, and old and new value of each property."""
    changes = {one["property"]: (one["from"], one["to"]) for one in change["changes"]}
    return change["actor"], change["topic"], changes


def test_history__every_property_changed__shows_old_and_new_values(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    fqdn = machines(cpu={"cores": 4, "hyper": True}, location="rack 7")
    path = f"/systems/{fqdn}"
    change = {"cpu": {"cores": 8}, "location": None, "owner": "bob", "memory_mb": 32}
    assert people["alice"].patch(path, json=change).is_success
    assert people["bob"].patch(path, json={"lab_controller": WEST}).is_success
    client.put(f"/pools/big/systems/{fqdn}", json={})
    client.delete(f"/pools/big/systems/{fqdn}")
    people["bob"].patch(path, json={"condition": "Manual", "draining": True, "reason": "new fan"})
    people["bob"].patch(path, json={"draining": False})
    people["carol"].put(f"{path}/reservation", json={"until": "2999-01-01T00:00:00Z"})
    people["carol"].delete(f"{path}/reservation")
    found = [summary(change) for change in reversed(history(client, fqdn, service))]
    (who, topic, registered), *later = found
    assert (who, topic) == ("admin", "system.registered")
    assert registered["cpu.cores"] == (None, 4) and registered["lab_controller"] == (None, EAST)
    assert "draining" not in registered and "user" not in registered
    until = "2999-01-01T00:00:00Z"
    assert later == [
        ("alice", "system.owner-changed", {"owner": ("alice", "bob")}),
        (
            *("alice", "system.inventory-changed"),
            {"cpu.cores": (4, 8), "location": ("rack 7", None), "memory_mb": (16, 32)},
        ),
        ("bob", "system.lab-controller-changed", {"lab_controller": (EAST, WEST)}),
        ("admin", "pool.system-added", {"pools": ([], ["big"])}),
        ("admin", "pool.system-removed", {"pools": (["big"], [])}),
        ("bob", "system.drained", {"draining": (False, True)}),
        ("bob", "system.condition-changed", {"condition": ("Automated", "Manual")}),
        ("bob", "system.undrained", {"draining": (True, False)}),
        ("carol", "system.reservation-begun", {"user": (None, "carol"), "reserved_until": (None, until)}),
        ("carol", "system.reservation-ended", {"user": ("carol", None), "reserved_until": (until, None)}),
    ]
    reasons = {change["topic"]: change["reason"] for change in history(client, fqdn, service)}
    assert reasons["system.condition-changed"] == reasons["system.drained"] == "new fan"
    assert reasons["system.owner-changed"] is None


def test_history__policies_and_loans__shown_like_properties(
    client: httpx.Client, machine: str, service: Running
) -> None:
    path, entries = f"/systems/{machine}", [{"permission": "view", "everybody": True}]
    client.put(f"{path}/access-policy", json={"entries": entries})
    client.put(f"{path}/loan", json={"user": "bob", "until": "2999-01-01T00:00:00Z"})
    client.delete(f"{path}/loan")
    until = "2999-01-01T00:00:00Z"
    assert [summary(change) for change in reversed(history(client, machine, service))][1:] == [
        ("admin", "system.access-policy-changed", {"access_policy": (None, entries)}),
        ("admin", "system.loaned", {"loaned_to": (None, "bob"), "loaned_until": (None, until)}),
        ("admin", "system.loan-ended", {"loaned_to": ("bob", None), "loaned_until": (until, None)}),
    ]


def test_history__of_a_working_system__omits_its_usage(
    client: httpx.Client, machine: str, service: Running
) -> None:
    (recipe_id,) = submit(client, recipe_for(machine))["recipe_ids"]
    finish(client, recipe_id, start(client, recipe_id))
    assert [change["topic"] for change in history(client, machine, service)] == ["system.registered"]


def test_history__page_by_page_and_then__stable_and_as_it_was(
    client: httpx.Client, machine: str, service: Running
) -> None:
    path = f"/systems/{machine}"
    for memory_mb in range(100, 105):
        then = service.end()
        client.patch(path, json={"memory_mb": memory_mb})
    whole = history(client, machine, service)
    found, answer = [], client.get(f"{path}/history", params={"limit": 2})
    # Later changes do not shift the pages.
    client.patch(path, json={"memory_mb": 7})
    while True:
        found += answer.json()["changes"]
        if "next" not in answer.links:
            break
        answer = client.get(answer.links["next"]["url"])
    assert found == whole and [change["position"] for change in whole] == sorted(
        (change["position"] for change in whole), reverse=True
    )
    assert history(client, machine, service, as_of=then) == whole[1:]
    assert len(history(client, machine, service)) == len(whole) + 1


def test_history__events_of_the_log__are_those_it_names(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    fqdn = machines(**{**WHOLE, "condition": "Automated"})
    client.patch(f"/systems/{fqdn}", json={"vendor": "x"})
    events = {event["position"]: event for event in service.events()}
    for change in history(client, fqdn, service):
        event = events[change["position"]]
        assert {name: event[name] for name in ("topic", "actor", "cause")}.items() <= change.items()
        assert event["recorded_at"] == change["at"]


def test_history__unknown_system__404(client: httpx.Client, machine: str, service: Running) -> None:
    assert client.get("/systems/no.example.com/history").status_code == 404
    assert client.get(f"/systems/{machine}/history", params={"as_of": 1}).status_code == 404
    assert client.get(f"/systems/{machine}/history", params={"colour": 1}).status_code == 422


# In the order of a database with a language-specific collation.
KEYS: list[str | None] = ["alpha", "Beta", "gamma-1", "gamma1", "Gamma-2", None]


@pytest.mark.parametrize("limit", range(1, len(KEYS) + 2))
def test_page__groups_in_an_order_of_the_database__each_comes_once(limit: int) -> None:
    groups: list[dict[str, Any]] = [{"key": key, "seconds": {}} for key in KEYS]
    found, after = list[str | None](), ""
    for _ in KEYS:
        shown, last = _page(groups, PageAt(At(1), limit, after))
        found += [group["key"] for group in shown]
        if last is None:
            break
        after = last
    assert sorted(found, key=str) == sorted(KEYS, key=str)
