"""Changes of the condition and draining of many systems in one request, and the list of draining ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, in_state, recipe_for, submit

PATH = "/system-changes"
NUMBERS = itertools.count(1)
DRAIN = {"draining": True, "reason": "new switch"}


def changed(answer: httpx.Response) -> dict[str, Any]:
    """Return whether each system was changed, by its name."""
    assert answer.status_code == 200, answer.text
    return {each["fqdn"]: each.get("changed") for each in answer.json()["systems"]}


def listed(client: httpx.Client, at: str, **filters: Any) -> list[str]:
    """Return the names of the systems, after a position or as of it."""
    systems = client.get("/systems", params={"limit": 1_000, "min_position": at, **filters}).json()["systems"]
    return [each["fqdn"] for each in systems]


@pytest.fixture
def place() -> str:
    """Return a location without systems; removed systems of other tests stay in the lists."""
    return f"place {next(NUMBERS)}"


@pytest.fixture
def rack(client: httpx.Client, machines: Callable[..., str], place: str) -> list[str]:
    """Return two systems at the place; the second one is draining."""
    # Lists are in the order of names: own-100 is before own-99.
    systems = sorted(machines(condition="Manual", location=place) for _ in range(2))
    client.patch(f"/systems/{systems[1]}", json={"draining": True}).raise_for_status()
    return systems


def test_drain__of_many__one_answer_each_in_one_commit(
    client: httpx.Client, rack: list[str], service: Running
) -> None:
    before = service.end()
    answer = client.post(PATH, json={"systems": rack, **DRAIN})
    assert changed(answer) == {rack[0]: True, rack[1]: False}
    position = answer.headers["Labledger-Position"]
    assert answer.json()["position"] == int(position)
    found = client.get("/events", params={"after": before, "subject": f"system/{rack[0]}"}).json()["events"]
    (event,) = (each for each in found if each["topic"] == "system.drained")
    assert event["data"] == {"reason": "new switch", "window": None} and event["position"] == int(position)
    undrained = client.post(PATH, json={"systems": rack, "draining": False, "reason": "it works"})
    assert changed(undrained) == dict.fromkeys(rack, True)
    shown = client.get(f"/systems/{rack[0]}/history", params={"min_position": undrained.json()["position"]})
    assert shown.json()["changes"][0]["reason"] == "it works"


def test_systems__draining_or_at_a_location__as_of_any_moment(
    client: httpx.Client, rack: list[str], place: str, service: Running
) -> None:
    before = service.end()
    position = client.post(PATH, json={"systems": rack, **DRAIN}).headers["Labledger-Position"]
    here: dict[str, Any] = {"location": place}
    assert listed(client, position, **here, draining="true") == rack
    assert listed(client, position, **here, draining="false") == []
    assert listed(client, position, **here, draining="true", as_of=before) == [rack[1]]
    assert listed(client, position, **here, draining="false", as_of=before) == [rack[0]]
    assert listed(client, position, **here) == rack
    assert listed(client, position, location="nowhere", draining="true") == []


def test_condition__of_both_systems_of_a_set__one_commit_ends_the_set(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    systems = [machines(), machines()]
    both = submit(client, *map(recipe_for, systems))
    for recipe_id in both["recipe_ids"]:
        in_state(client, recipe_id, "waiting")
    answer = client.post(PATH, json={"systems": systems, "condition": "Broken", "reason": "flood"})
    assert changed(answer) == dict.fromkeys(systems, True)
    for fqdn, recipe_id in zip(systems, both["recipe_ids"], strict=True):
        shown = client.get(f"/systems/{fqdn}", params={"min_position": answer.json()["position"]}).json()
        assert (shown["condition"], shown["usage"]) == ("Broken", "idle")
        assert client.get(f"/recipes/{recipe_id}").json()["state"] == "aborted"


def test_change__dry_run__answers_and_stores_nothing(
    client: httpx.Client, rack: list[str], place: str, service: Running
) -> None:
    before = service.end()
    answer = client.post(PATH, json={"systems": rack, **DRAIN}, params={"dry_run": "true"})
    assert changed(answer) == {rack[0]: True, rack[1]: False}
    assert answer.json()["dry_run"] is True
    assert listed(client, str(before), location=place, draining="true") == [rack[1]]


def test_change__same_key__takes_effect_once(client: httpx.Client, rack: list[str]) -> None:
    key = {"Idempotency-Key": f"drain {rack[0]}"}
    first = client.post(PATH, json={"systems": rack, **DRAIN}, headers=key)
    undrained = client.patch(f"/systems/{rack[0]}", json={"draining": False}).raise_for_status()
    again = client.post(PATH, json={"systems": rack, **DRAIN}, headers=key)
    assert again.json() == first.json()
    later = {"min_position": undrained.headers["Labledger-Position"]}
    at = client.get(f"/systems/{rack[0]}", params=later).json()
    assert at["draining"] is False
    other = client.post(PATH, json={"systems": rack, "draining": False}, headers=key)
    assert other.status_code == 422


def test_change__unknown_and_hidden_systems__named_alike_and_nothing_stored(
    people: People, rack: list[str], place: str, secret: tuple[str, str], client: httpx.Client
) -> None:
    hidden, position = secret
    asked = [rack[0], hidden, "no.such"]
    answer = people["carol"].post(PATH, json={"systems": asked, **DRAIN})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"where": f"systems[{number}]", "message": f'there is no system "{asked[number]}"'}
        for number in (1, 2)
    ]
    assert listed(client, position, location=place, draining="true") == [rack[1]]


def test_change__without_the_permission__all_systems_named_and_nothing_stored(
    people: People, rack: list[str], place: str, client: httpx.Client, service: Running
) -> None:
    answer = people["bob"].post(PATH, json={"systems": rack, **DRAIN})
    assert answer.status_code == 403
    assert all(fqdn in answer.json()["detail"] for fqdn in rack)
    assert listed(client, str(service.end()), location=place, draining="true") == [rack[1]]
    assert people["alice"].post(PATH, json={"systems": rack, **DRAIN}).status_code == 200


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"systems": ["a.b"]}, "body"),
        ({"systems": [], **DRAIN}, "systems"),
        ({"systems": ["a.b", "a.b"], **DRAIN}, "body"),
        ({"systems": ["a b"], **DRAIN}, "systems[0]"),
        ({"systems": ["a.b"], "condition": "Odd"}, "condition"),
    ],
)
def test_change__faulty_body__is_refused(client: httpx.Client, body: dict[str, Any], where: str) -> None:
    answer = client.post(PATH, json=body)
    assert answer.status_code == 422
    assert [fault["where"] for fault in answer.json()["errors"]] == [where]
