"""Notes of people on a system."""

from __future__ import annotations

from typing import Any

import httpx

from tests.harness.running import Running
from tests.rest.actions import People
from tests.rest.systems.conftest import MISSING


def noted(client: httpx.Client, fqdn: str, text: str, **headers: str) -> int:
    answer = client.post(f"/systems/{fqdn}/notes", json={"text": text}, headers=headers)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/systems/{fqdn}/notes"
    note_id: int = answer.json()["id"]
    return note_id


def texts(client: httpx.Client, fqdn: str, **query: Any) -> list[str]:
    listed = client.get(f"/systems/{fqdn}/notes", params=query)
    assert listed.status_code == 200, listed.text
    return [each["text"] for each in listed.json()["notes"]]


def test_notes__added_and_removed__are_listed_as_of_any_moment_newest_first(
    client: httpx.Client, people: People, machine: str
) -> None:
    first = noted(people["alice"], machine, "two disks")
    second = noted(client, machine, "a new switch\nin port 7")
    (newest, oldest) = client.get(f"/systems/{machine}/notes", params={"min_position": second}).json()[
        "notes"
    ]
    assert (newest["id"], newest["author"], oldest["id"], oldest["author"]) == (
        second,
        "admin",
        first,
        "alice",
    )
    assert newest["at"] > oldest["at"]
    removed = client.delete(f"/systems/{machine}/notes/{first}", params={"reason": "one disk now"})
    assert (removed.status_code, removed.json()["id"]) == (200, first)
    assert texts(client, machine, min_position=removed.json()["position"]) == ["a new switch\nin port 7"]
    assert texts(client, machine, as_of=second) == ["a new switch\nin port 7", "two disks"]
    assert texts(client, machine, as_of=first - 1) == []
    event = client.get(f"/events/{removed.json()['position']}").json()["event"]
    assert (event["actor"], event["data"]) == ("admin", {"note": first, "reason": "one disk now"})
    assert client.delete(f"/systems/{machine}/notes/{first}").status_code == 404
    # Other changes of the system change no note.
    changed = client.patch(f"/systems/{machine}", json={"memory_mb": 5}).json()["position"]
    assert len(texts(client, machine, min_position=changed)) == 1


def test_notes__of_a_page__follow_by_cursor(client: httpx.Client, machine: str) -> None:
    for text in "abc":
        position = noted(client, machine, text)
    page = client.get(f"/systems/{machine}/notes", params={"limit": 2, "min_position": position}).json()
    assert [each["text"] for each in page["notes"]] == ["c", "b"]
    (last,) = client.get(page["next"]).json()["notes"]
    assert last["text"] == "a"


def test_note__repeated_with_its_key__is_one(client: httpx.Client, machine: str, service: Running) -> None:
    key = {"Idempotency-Key": f"note on {machine}"}
    note_id = noted(client, machine, "once", **key)
    assert noted(client, machine, "once", **key) == note_id
    assert texts(client, machine, min_position=service.end()) == ["once"]


def test_note__impossible__is_refused(client: httpx.Client, machine: str, service: Running) -> None:
    before = service.end()
    path = f"/systems/{machine}/notes"
    for body in ({}, {"text": ""}, {"text": "x" * 4_097}, {"text": "\x00"}, {"text": "x", "author": "bob"}):
        assert client.post(path, json=body).status_code == 422
    assert client.delete(f"{path}/{before}").status_code == 404
    for method in ("GET", "POST"):
        asked = client.request(
            method, f"/systems/{MISSING}/notes", json={"text": "x"} if method == "POST" else None
        )
        assert asked.status_code == 404
    assert service.end() == before or texts(client, machine, min_position=service.end()) == []
