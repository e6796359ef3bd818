"""The log over HTTP: pages, filters, and the stream of server-sent events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx

from tests.harness.running import Running

SSE = {"Accept": "text/event-stream"}


def test_events__paged__whole_log_in_order(client: httpx.Client, service: Running) -> None:
    whole = service.events()
    assert [event["position"] for event in whole] == list(range(1, len(whole) + 1))
    page = client.get("/events", params={"after": 3, "limit": 2}).json()
    assert [event["position"] for event in page["events"]] == [4, 5] and page["next"] == 5
    fields = {"position", "topic", "version", "subject", "at", "actor", "cause", "basis", "data"}
    assert fields <= page["events"][0].keys()


def test_events__filtered__only_those(client: httpx.Client, service: Running) -> None:
    by_type = client.get("/events", params={"types": "pool.registered,user.registered"}).json()["events"]
    assert {event["topic"] for event in by_type} == {"pool.registered", "user.registered"}
    one = client.get("/events", params={"subject": "pool/big"}).json()["events"]
    assert one[0]["topic"] == "pool.registered" and {event["subject"] for event in one} == {"pool/big"}


def test_events__caused_by_requests__name_the_id_of_the_token_and_never_the_token(
    client: httpx.Client, service: Running, people: dict[str, httpx.Client]
) -> None:
    after = service.end()
    client.put("/users/tess", json={"roles": ["submitter"]}).raise_for_status()
    client.put("/users/tess/password", json={"password": "correct horse battery"}).raise_for_status()
    login = client.post("/login", json={"user": "tess", "password": "correct horse battery"}).json()
    with service.client(login["token"]) as tess:
        # A token that expires makes only tokens that expire no later.
        body = {"user": "tess", "role": "submitter", "expires_at": login["expires_at"]}
        made = tess.post("/tokens", json=body).raise_for_status().json()
    page = client.get("/events", params={"after": after, "limit": 1000})
    tokens = {event["subject"]: event["token_id"] for event in page.json()["events"]}
    assert tokens["user/tess"] == client.get("/whoami").json()["token_id"]
    assert tokens[f"token/{login['token_id']}"] == tokens[f"token/{made['token_id']}"] == login["token_id"]
    assert login["token"] not in page.text and made["token"] not in page.text
    with client.stream(
        "GET", "/events", params={"after": after, "subject": "user/tess"}, headers=SSE
    ) as live:
        assert next(_events(live))["token_id"] == tokens["user/tess"]
    whole = service.events()
    assert whole[0]["cause"] == "request/first-start" and whole[0]["token_id"] == "admin"
    assert {event["token_id"] for event in whole if not event["cause"].startswith("request/")} <= {None}


def test_stream__from_the_start__replays_then_follows(client: httpx.Client, service: Running) -> None:
    expected = [event["position"] for event in service.events()]
    with client.stream("GET", "/events", headers=SSE) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        stream = _events(response)
        seen = [event["position"] for event in itertools.islice(stream, len(expected))]
        assert seen == expected
        with service.client() as other:
            other.put("/users/dave", json={})
        live = next(stream)
        assert (live["topic"], live["subject"]) == ("user.registered", "user/dave")


def test_stream__resumed__goes_on_after_the_last_id(client: httpx.Client, service: Running) -> None:
    last = service.end()
    for header in (str(last - 3), str(1)):
        with client.stream("GET", "/events", headers={**SSE, "Last-Event-ID": header}) as response:
            assert next(_events(response))["position"] == int(header) + 1


def test_stream__filtered__follows_only_those(client: httpx.Client, service: Running) -> None:
    after = service.end()
    asked = {"after": after, "subject": "user/frank"}
    with client.stream("GET", "/events", params=asked, headers=SSE) as response:
        with service.client() as other:
            other.put("/users/erin", json={})
            other.put("/users/frank", json={})
        assert next(_events(response))["subject"] == "user/frank"


def test_stream__of_an_actor__past_and_new_events_of_the_actor(
    client: httpx.Client, service: Running, people: dict[str, httpx.Client], machine: str
) -> None:
    path = f"/systems/{machine}"
    people["alice"].patch(path, json={"draining": True, "reason": "before"}).raise_for_status()
    expected = [event["position"] for event in service.events() if event["actor"] == "alice"]
    with client.stream("GET", "/events", params={"actor": "alice"}, headers=SSE) as response:
        stream = _events(response)
        seen = [event["position"] for event in itertools.islice(stream, len(expected))]
        assert seen == expected and expected
        client.put("/groups/of-admin", json={}).raise_for_status()
        people["alice"].patch(path, json={"draining": False}).raise_for_status()
        live = next(stream)
        assert (live["topic"], live["actor"]) == ("system.undrained", "alice")


def test_events_of_tokens__other_roles_than_admin_and_auditor__do_not_see_them(
    client: httpx.Client, service: Running, people: dict[str, httpx.Client]
) -> None:
    client.put("/users/audrey", json={})
    last = service.end()
    made = client.post("/tokens", json={"user": "audrey", "role": "auditor"}).json()
    client.put("/users/gina", json={})
    whole = service.events()
    end = whole[-1]["position"]
    others = [event["position"] for event in whole if not event["topic"].startswith("token.")]
    # The service may add events of its own at any time.
    assert len(others) < len(whole) and "token.created" in {event["topic"] for event in whole[-9:]}
    for who in ("alice", "east"):
        found, after = [], 0
        while after is not None:
            page = people[who].get("/events", params={"after": after, "limit": 7}).json()
            found, after = found + page["events"], page["next"]
        assert [event["position"] for event in found if event["position"] <= end] == others
        headers = {**SSE, "Last-Event-ID": str(last)}
        with people[who].stream("GET", "/events", headers=headers) as response:
            stream = _events(response)
            following = [one for one in others if one > last]
            assert [event["position"] for event in itertools.islice(stream, len(following))] == following
            client.post("/tokens", json={"user": "audrey", "role": "auditor"})
            client.put(f"/users/gina-{who}", json={})
            seen = list(
                itertools.takewhile(lambda event, who=who: event["subject"] != f"user/gina-{who}", stream)
            )
            assert [event for event in seen if event["topic"].startswith("token.")] == []
        for asked in (
            {"types": "token.created,user.removed"},
            {"subject": "token/x"},
            {"subject": "token/*"},
        ):
            assert people[who].get("/events", params=asked).status_code == 403
    with service.client(made["token"]) as auditor:
        seen = auditor.get("/events", params={"types": "token.created", "limit": 1000}).json()["events"]
        assert made["token_id"] in [event["subject"].removeprefix("token/") for event in seen]


def _events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for text in response.iter_lines():
        if text.startswith("data:"):
            yield json.loads(text.removeprefix("data:"))


def test_stream__with_limit_and_as_of__both_refused_by_name(client: httpx.Client) -> None:
    refused = client.get("/events", params={"limit": 5, "as_of": 3}, headers=SSE)

    assert refused.status_code == 422
    assert [fault["where"] for fault in refused.json()["errors"]] == ["limit", "as_of"]
