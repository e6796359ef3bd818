"""Tickets of systems that are not Automated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.harness.running import Running

TICKET = "https://tickets.example.com/42?a=1#note"


def changed(client: httpx.Client, fqdn: str, **change: Any) -> dict[str, Any]:
    """Change a system; return it as of the change."""
    answer = client.patch(f"/systems/{fqdn}", json=change)
    assert answer.status_code == 200, answer.text
    return seen(client, fqdn, answer.json()["position"])


def seen(client: httpx.Client, fqdn: str, position: int) -> dict[str, Any]:
    shown: dict[str, Any] = client.get(f"/systems/{fqdn}", params={"min_position": position}).json()
    return shown


def test_ticket__of_a_broken_system__is_shown_with_the_condition_until_it_is_automated(
    client: httpx.Client, machine: str, service: Running
) -> None:
    broken = changed(client, machine, condition="Broken", reason="no link", ticket=TICKET)
    assert (broken["condition"], broken["ticket"]) == ("Broken", TICKET)
    then = service.end()
    listed = client.get("/systems", params={"lab_controller": "lab.east.example.com", "limit": 1_000}).json()
    assert [each["ticket"] for each in listed["systems"] if each["fqdn"] == machine] == [TICKET]
    changes = client.get(f"/systems/{machine}/history").json()["changes"]
    assert changes[0]["changes"] == [{"property": "ticket", "from": None, "to": TICKET}]
    assert (changes[0]["actor"], changes[0]["reason"]) == ("admin", "no link")
    # It stays with other conditions, and can be changed and removed alone.
    assert changed(client, machine, condition="Manual", reason="by hand")["ticket"] == TICKET
    assert changed(client, machine, ticket="http://other.example.com/7", reason="moved")["ticket"] != TICKET
    assert changed(client, machine, ticket=None)["ticket"] is None
    assert changed(client, machine, ticket=TICKET)["ticket"] == TICKET
    assert changed(client, machine, condition="Automated")["ticket"] is None
    assert client.get(f"/systems/{machine}", params={"as_of": then}).json()["ticket"] == TICKET


def test_ticket__in_the_overview__is_with_the_broken_system(client: httpx.Client, machine: str) -> None:
    client.patch(f"/systems/{machine}", json={"owner": "admin"}).raise_for_status()
    changed(client, machine, condition="Broken", ticket=TICKET)
    shown = client.get("/overview").json()
    mine = [*shown["broken"]["systems"], *shown["systems"]["systems"]]
    assert {each["ticket"] for each in mine if each["fqdn"] == machine} == {TICKET}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"ticket": "javascript:alert(1)", "condition": "Broken"}, 422),
        ({"ticket": TICKET, "condition": "Automated"}, 422),
        # The system is Automated.
        ({"ticket": TICKET}, 409),
    ],
)
def test_ticket__impossible__nothing_is_stored(
    client: httpx.Client, machine: str, service: Running, change: dict[str, Any], status: int
) -> None:
    before = service.end()
    answers = (
        client.patch(f"/systems/{machine}", json=change),
        client.post("/system-changes", json={"systems": [machine], **change}),
    )
    for answer in answers:
        assert answer.status_code == status
        assert "ticket" in answer.text
    found = client.get("/events", params={"after": before, "subject": f"system/{machine}"}).json()["events"]
    assert found == []


def test_tickets__of_many_systems__are_set_and_removed_in_one_request(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    systems = [machines(condition="Manual"), machines(condition="Broken")]
    for ticket in (TICKET, None):
        answer = client.post("/system-changes", json={"systems": systems, "ticket": ticket})
        assert [each["changed"] for each in answer.json()["systems"]] == [True, True]
        position = answer.json()["position"]
        assert [seen(client, fqdn, position)["ticket"] for fqdn in systems] == [ticket, ticket]
