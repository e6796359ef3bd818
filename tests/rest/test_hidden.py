"""Secrets that no answer contains: digests of tokens, hashes of passwords."""

from __future__ import annotations

import hashlib

import httpx

from tests.harness.running import Running
from tests.rest.actions import after


def test_digest_of_a_token__whatever_is_read__is_not_answered(client: httpx.Client, service: Running) -> None:
    made = client.post("/tokens", json={"user": "alice", "role": "submitter"})
    digest = hashlib.sha256(made.json()["token"].encode()).hexdigest()
    token_id = made.json()["token_id"]
    client.delete(f"/tokens/{token_id}")
    created = [event for event in service.events() if event["subject"] == f"token/{token_id}"]
    assert [event["topic"] for event in created] == ["token.created", "token.revoked"]
    assert created[0]["data"]["user"] == "alice"
    read = [
        str(service.events()),
        client.get("/tokens", params={**after(made), "limit": 1000}).text,
        client.get(f"/tokens/{token_id}", params=after(made)).text,
        _streamed(client, created[0]["position"] - 1),
    ]
    assert all(token_id in text for text in read)
    assert not any(digest in text or "digest" in text for text in read)


def test_hash_of_a_password__whatever_is_read__is_not_answered(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    assert client.put("/users/mute", json={}).status_code == 200
    answer = client.put("/users/mute/password", json={"password": "correct horse"})
    assert answer.status_code == 200, answer.text
    read = [str(service.events(before)), answer.text, client.get("/users/mute", params=after(answer)).text]
    assert "user.password-set" in read[0]
    assert not any("argon2" in text for text in read)
    client.delete("/users/mute")


def _streamed(client: httpx.Client, after: int) -> str:
    """Return the first event of a stream."""
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
    with client.stream("GET", "/events", headers=headers) as stream:
        return next(line for line in stream.iter_lines() if line.startswith("data:"))
