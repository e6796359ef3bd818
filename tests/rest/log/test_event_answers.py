"""Pages of the log from its end and of a time span, and single events with those that they caused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, after, cancel_set, in_state, recipe_for, submit


@pytest.fixture
def recipe(client: httpx.Client, service: Running, machine: str) -> list[dict[str, Any]]:
    """Return the events of a recipe that got a system and was cancelled."""
    made = submit(client, recipe_for(machine))
    in_state(client, made["recipe_ids"][0], "waiting")
    cancel_set(client, made)
    subject = f"recipe/{made['recipe_ids'][0]}"
    return [event for event in service.events() if event["subject"] == subject]


def found(client: httpx.Client, **params: Any) -> list[int]:
    """Return the positions of all pages of an answer: the log grows with the tests that ran before."""
    cursor = "before" if params.get("newest_first") == "true" else "after"
    positions, following = [], params
    while True:
        answer = client.get("/events", params=following)
        assert answer.status_code == 200, answer.text
        positions += [event["position"] for event in answer.json()["events"]]
        if answer.json()["next"] is None:
            return positions
        following = {**params, cursor: answer.json()["next"]}


def shown(client: httpx.Client, position: int, **params: Any) -> dict[str, Any]:
    answer = client.get(f"/events/{position}", params=params)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_events__newest_first__pages_are_the_whole_log_backwards(
    client: httpx.Client, service: Running
) -> None:
    end, positions = service.end(), []
    before: int | None = end + 1
    while before is not None:
        asked = {"newest_first": "true", "before": before, "limit": 30}
        page = client.get("/events", params=asked).json()
        positions += [event["position"] for event in page["events"]]
        before = page["next"]
    whole = [event["position"] for event in service.events() if event["position"] <= end]
    assert positions == whole[::-1]


def test_events__between_two_times__are_those_recorded_there(
    client: httpx.Client, recipe: list[dict[str, Any]], service: Running
) -> None:
    since, until = recipe[0]["recorded_at"], recipe[-1]["recorded_at"]
    inside = [e["position"] for e in service.events() if since <= e["recorded_at"] < until]
    assert found(client, since=since, until=until, limit=1000) == inside
    assert recipe[0]["position"] in inside and recipe[-1]["position"] not in inside
    backwards = found(client, since=since, until=until, limit=1000, newest_first="true")
    assert backwards == inside[::-1]
    early = "2020-01-01T00:00:00Z"
    assert found(client, since=early, until=early) == []
    refused = client.get("/events", params={"since": until, "until": early})
    assert refused.status_code == 422 and refused.json()["errors"][0]["where"] == "until"


def test_event__with_its_neighbours__and_those_that_it_caused(
    client: httpx.Client, recipe: list[dict[str, Any]], service: Running
) -> None:
    first, second, *_ = recipe
    answer = shown(client, second["position"])
    assert answer["event"] == second
    assert answer["previous_of_subject"] == first["position"]
    assert answer["next_of_subject"] == recipe[2]["position"]
    assert shown(client, first["position"])["previous_of_subject"] is None
    assert shown(client, recipe[-1]["position"])["next_of_subject"] is None
    events = service.events()
    for event in events[-60:]:
        caused = [e["position"] for e in events if e["cause"] == f"event/{event['position']}"]
        assert [e["position"] for e in shown(client, event["position"])["caused"]] == caused


def test_event__search_after_a_position__finds_only_later_ones(
    client: httpx.Client, recipe: list[dict[str, Any]], service: Running
) -> None:
    caused = next(e for e in reversed(service.events()) if e["cause"].startswith("event/"))
    position = int(caused["cause"].removeprefix("event/"))
    positions = [e["position"] for e in shown(client, position)["caused"]]
    later = [e["position"] for e in shown(client, position, caused_after=positions[0])["caused"]]
    assert later == positions[1:]


def test_event__as_of_the_past__knows_nothing_later(
    client: httpx.Client, recipe: list[dict[str, Any]]
) -> None:
    first = recipe[0]
    then = shown(client, first["position"], as_of=first["commit_end"])
    assert then["next_of_subject"] is None
    assert max((e["position"] for e in then["caused"]), default=0) <= first["commit_end"]
    path = f"/events/{first['commit_end'] + 1}"
    assert client.get(path, params={"as_of": first["commit_end"]}).status_code == 404


def test_event__of_a_hidden_system_or_a_token__does_not_exist(
    client: httpx.Client, service: Running, people: People, machine: str
) -> None:
    pool = client.put(f"/pools/big/systems/{machine}")
    view = {"entries": [{"permission": "view", "user": "bob"}]}
    done = client.put(f"/systems/{machine}/access-policy", json=view)
    token = next(e for e in service.events() if e["topic"] == "token.created")
    for name in ("bob", "carol"):
        for position in (int(done.headers["labledger-position"]), int(pool.headers["labledger-position"])):
            answer = people[name].get(f"/events/{position}", params=after(done))
            assert (name, answer.status_code) == (name, 200 if name == "bob" else 404)
        assert people[name].get(f"/events/{token['position']}").status_code == 404
    asked = {**after(done), "limit": 1, "as_of": int(done.headers["labledger-position"])}
    for direction in ({}, {"newest_first": "true"}):
        answers = [
            people["carol"].get("/events", params={**asked, **direction, "subject": f"system/{fqdn}"}).json()
            for fqdn in (machine, "never-there.example.com")
        ]
        assert answers[0] == answers[1] and answers[0]["events"] == []
    last = client.put("/pools/big", json={"owner_group": None, "description": "after the hidden event"})
    changed = int(last.headers["labledger-position"])
    shown_to = {name: shown(people[name], changed)["previous_of_subject"] for name in ("bob", "carol")}
    hidden = int(pool.headers["labledger-position"])
    assert shown_to["bob"] >= hidden - 1 and shown_to["carol"] < hidden - 1
    client.delete(f"/systems/{machine}/access-policy")
    client.delete(f"/pools/big/systems/{machine}")


def test_stream__with_parameters_of_pages__refused_by_name(client: httpx.Client) -> None:
    asked = {"newest_first": "true", "before": 9}
    refused = client.get("/events", params=asked, headers={"Accept": "text/event-stream"})
    assert refused.status_code == 422
    assert [fault["where"] for fault in refused.json()["errors"]] == ["before", "newest_first"]


def test_events__of_an_actor__a_filter_of_the_log_in_both_directions_and_of_the_past(
    client: httpx.Client, recipe: list[dict[str, Any]], service: Running
) -> None:
    events = service.events()
    middle, end = recipe[0]["commit_end"], events[-1]["position"]
    for actor in ("scheduler", "admin", "nobody"):
        positions = [each["position"] for each in events if each["actor"] == actor]
        asked: dict[str, Any] = {"actor": actor, "as_of": end, "limit": 1000}
        assert found(client, **asked) == positions
        assert found(client, **asked, newest_first="true") == positions[::-1]
        then = [position for position in positions if position <= middle]
        assert found(client, **{**asked, "as_of": middle}) == then
        before = [position for position in then if 3 < position < middle]
        assert found(client, **asked, after=3, before=middle) == before
        times = {"since": recipe[0]["recorded_at"], "until": recipe[-1]["recorded_at"]}
        inside = [
            each["position"]
            for each in events
            if each["actor"] == actor and times["since"] <= each["recorded_at"] < times["until"]
        ]
        assert found(client, **asked, **times) == inside
        subject = [each["position"] for each in recipe if each["actor"] == actor]
        assert found(client, **asked, subject=recipe[0]["subject"]) == subject
    assert client.get("/events", params={"actor": "no name"}).status_code == 422


def test_events__just_written__found_by_their_actor(
    client: httpx.Client, people: People, machine: str
) -> None:
    """The read models may lag behind the log."""
    for number in range(6):
        change = {"draining": number % 2 == 0, "reason": "often"}
        made = people["alice"].patch(f"/systems/{machine}", json=change)
        position = int(made.headers["labledger-position"])
        assert position in found(client, actor="alice", newest_first="true", limit=3)


def test_events__of_an_actor_who_changed_hidden_systems__nothing_depends_on_the_hidden_events(
    client: httpx.Client, service: Running, people: People, machine: str
) -> None:
    before = service.end()
    view = {"entries": [{"permission": "view", "user": "bob"}]}
    client.put(f"/systems/{machine}/access-policy", json=view).raise_for_status()
    for number in range(4):
        change = {"draining": number % 2 == 0, "reason": "hidden"}
        client.patch(f"/systems/{machine}", json=change).raise_for_status()
        client.put(f"/pools/big/systems/{machine}").raise_for_status()
        client.delete(f"/pools/big/systems/{machine}").raise_for_status()
        client.post("/tokens", json={"user": "alice", "role": "submitter"}).raise_for_status()
    done = client.put("/pools/big", json={"owner_group": None, "description": "hidden before"})
    end = int(done.headers["labledger-position"])
    hidden = [each for each in service.events(before) if each["position"] < end and each["actor"] == "admin"]
    assert len(hidden) > 12
    asked = {**after(done), "actor": "admin", "after": before, "as_of": end}
    for direction in ({}, {"newest_first": "true"}):
        for limit in (1, 2, 1000):
            (one,) = pages(people["carol"], {**asked, **direction, "limit": limit})
            assert [each["position"] for each in one["events"]] == [end]
            first = people["carol"].get(
                "/events", params={**asked, **direction, "limit": limit, "before": end}
            )
            assert first.json()["events"] == [] and first.json()["next"] is None
    seen = [each["position"] for page in pages(client, {**asked, "limit": 3}) for each in page["events"]]
    assert seen == [each["position"] for each in hidden] + [end]
    client.delete(f"/systems/{machine}/access-policy")


def pages(client: httpx.Client, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pages of a read of the log, without empty ones at the end."""
    key = "before" if "newest_first" in asked else "after"
    made, position = [], asked.get(key)
    while True:
        answer = client.get("/events", params={**asked, **({} if position is None else {key: position})})
        assert answer.status_code == 200, answer.text
        made.append(answer.json())
        position = made[-1]["next"]
        if position is None:
            return [page for page in made if page["events"]]
