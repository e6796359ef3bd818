"""Every property of a system is validated, stored and answered by every way of input."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, by_people, shown
from tests.rest.whole_system import OTHERWISE, WHOLE, WRONG

NUMBERS = itertools.count(1)
ANSWERED = {"user": None, "loaned_to": None, "usage": "idle", "recipe_id": None, "draining": False}
Client = httpx.Client
# Each function takes a client and a document, and returns the answer.
Send = Callable[[Client, dict[str, Any]], httpx.Response]


def posted(client: Client, document: dict[str, Any]) -> httpx.Response:
    return client.post("/systems", json=document)


def patched(client: Client, document: dict[str, Any]) -> httpx.Response:
    """Patch an existing system without properties."""
    fqdn, rest = document["fqdn"], {name: value for name, value in document.items() if name != "fqdn"}
    bare = {"fqdn": fqdn, "lab_controller": EAST, "owner": "bob", "pools": ["big"], "condition": "Manual"}
    assert client.post("/systems", json=bare).status_code in (201, 409)
    return client.patch(f"/systems/{fqdn}", json=rest)


def reported(client: Client, document: dict[str, Any]) -> httpx.Response:
    """Report the system by its lab controller, and return the answer of the only item."""
    answer = client.post(f"/lab-controllers/{EAST}/updates", json={"items": [{"system": document}]})
    (item,) = answer.json()["items"]
    position = {"labledger-position": answer.headers["labledger-position"]}
    return httpx.Response(item["status"], json=item, headers=position)


def imported(client: Client, document: dict[str, Any]) -> httpx.Response:
    return client.post("/inventory", json={"systems": [document]})


INPUTS = [posted, patched, reported, imported]


@pytest.fixture
def fqdn(client: Client) -> Iterator[str]:
    """Yield the name of a system that the test adds, and remove the system afterwards."""
    name = f"whole-{next(NUMBERS)}.east.example.com"
    yield name
    client.delete(f"/systems/{name}")


@pytest.mark.parametrize("send", INPUTS)
def test_system__every_property__kept_and_answered(client: Client, fqdn: str, send: Send) -> None:
    answer = send(client, {"fqdn": fqdn, **WHOLE, "user": None, "loaned_to": None})
    found = shown(client, fqdn, answer)
    assert {name: found[name] for name in (*WHOLE, *ANSWERED)} == {**WHOLE, **ANSWERED}


@pytest.mark.parametrize("send", INPUTS)
def test_system__no_property__null_equals_a_missing_field(client: Client, fqdn: str, send: Send) -> None:
    needed = {"fqdn": fqdn, "lab_controller": EAST, "owner": "alice", "condition": "Manual"}
    found = shown(client, fqdn, send(client, {**needed, **dict.fromkeys(OTHERWISE)}))
    assert set(found).isdisjoint(OTHERWISE) and found["added_at"]


@pytest.mark.parametrize("send", INPUTS)
def test_system__everything_wrong__every_fault_named_and_nothing_stored(
    client: Client, fqdn: str, send: Send, service: Running
) -> None:
    if send is patched:
        assert patched(client, {"fqdn": fqdn}).is_success
    before = service.end()
    answer = send(client, {"fqdn": fqdn, **{name: value for name, (value, _) in WRONG.items()}})
    assert answer.status_code == 422
    places = {fault["where"].removeprefix("systems[0].") for fault in answer.json()["errors"]}
    assert {place.removeprefix("system.") for place in places} == {
        *(place for _, place in WRONG.values()),
        "cpu.colour",
    }
    assert by_people(service, before) == []


@pytest.mark.parametrize("name", OTHERWISE)
def test_property__patched_and_cleared__answered_as_it_is_then(
    client: Client, machines: Callable[..., str], name: str
) -> None:
    fqdn = machines(**{name: WHOLE[name], "condition": "Automated"})
    path = f"/systems/{fqdn}"
    done = client.patch(path, json={name: OTHERWISE[name]})
    assert done.json()["changed"] is True
    assert shown(client, fqdn, done)[name] == OTHERWISE[name]
    assert client.patch(path, json={name: OTHERWISE[name]}).json()["changed"] is False
    assert name not in shown(client, fqdn, client.patch(path, json={name: None}))
    assert client.patch(path, json={name: None}).json()["changed"] is False


def test_objects__patched_in_part__merged_and_lists_replaced(
    client: Client, machines: Callable[..., str]
) -> None:
    fqdn = machines(cpu={"cores": 4, "hyper": True, "flags": ["vmx"]}, key_values={"HVM": ["1"], "X": ["a"]})
    change = {
        "cpu": {"cores": 8, "hyper": None, "flags": ["svm"]},
        "key_values": {"X": None, "Y": ["b"]},
        "arches": ["aarch64"],
    }
    found = shown(client, fqdn, client.patch(f"/systems/{fqdn}", json=change))
    assert found["cpu"] == {"cores": 8, "flags": ["svm"]}
    assert found["key_values"] == {"HVM": ["1"], "Y": ["b"]} and found["arches"] == ["aarch64"]
    nothing = {"cpu": {"cores": None, "flags": None}}
    assert "cpu" not in shown(client, fqdn, client.patch(f"/systems/{fqdn}", json=nothing))
