"""The choice of notifications by their user, and the messages to the user."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from store.event_log import EventLog
from tests.harness.running import Running
from tests.rest.actions import after

HOOK = {"url": "https://hook.example.com/secret-path", "kinds": ["job-ended"], "secret": "0123456789abcdef"}


@pytest.fixture
def nora(client: httpx.Client, service: Running) -> Iterator[httpx.Client]:
    """Return the client of a user of her own."""
    assert client.put("/users/nora", json={"email": "nora@example.com"}).status_code == 200
    token = client.post("/tokens", json={"user": "nora", "role": "submitter"}).json()["token"]
    with service.client(token) as own:
        yield own
    client.delete("/users/nora")


def test_choice__of_a_user__is_kept_without_its_secrets(
    client: httpx.Client, nora: httpx.Client, service: Running
) -> None:
    path = "/users/nora/notifications"
    first = nora.get(path, params={"min_position": service.end()}).json()
    assert first["mail"] is None and first["webhook"] is None
    assert first["default_mail"] == ["job-ended", "end-near", "system-broken"]
    begin = service.end()
    chosen = nora.put(path, json={"mail": ["end-near"], "webhook": HOOK})
    assert chosen.status_code == 200, chosen.text
    shown = {"url": HOOK["url"], "kinds": ["job-ended"]}
    for one in (chosen, nora.get(path, params=after(chosen)), client.get(path, params=after(chosen))):
        assert (one.json()["mail"], one.json()["webhook"]) == (["end-near"], shown)
    # The secret is kept while the URL changes.
    other = {"url": "http://other.example.com", "kinds": []}
    assert nora.put(path, json={"mail": None, "webhook": other}).json()["webhook"] == other
    position = nora.put(path, json={"mail": None, "webhook": other}).headers["Labledger-Position"]
    assert int(position) == service.end(), "nothing changed"
    events = [each for each in service.events(begin) if each["subject"] == "user/nora"]
    assert [each["topic"] for each in events] == ["user.notifications-changed"] * 2
    text = str(events) + client.get("/users/nora", params=after(chosen)).text
    assert "secret-path" not in text and HOOK["secret"] not in text
    past = nora.get(path, params={"as_of": chosen.headers["Labledger-Position"]}).json()
    assert (past["mail"], past["webhook"]) == (["end-near"], None), "its URL was deleted"
    assert nora.put(path, json={}).json()["webhook"] is None
    again = nora.put(path, json={"webhook": other})
    assert [each["where"] for each in again.json()["errors"]] == ["webhook.secret"], "it was deleted"


def test_choice__of_a_removed_user__is_not_shown_to_the_next_one_of_the_name(
    client: httpx.Client, service: Running
) -> None:
    path, position = "/users/reused/notifications", ""
    for has_chosen in (True, False):
        made = client.put("/users/reused", json={"email": None})
        token = client.post("/tokens", json={"user": "reused", "role": "submitter"}).json()["token"]
        with service.client(token) as own:
            if has_chosen:
                chosen = own.put(path, json={"mail": None, "webhook": HOOK})
                position = chosen.headers["Labledger-Position"]
                client.delete("/users/reused")
                continue
            assert own.get(path, params={"as_of": position}).status_code == 404
            assert own.get(path, params={"as_of": made.headers["Labledger-Position"]}).status_code == 200
            past = client.get(path, params={"as_of": position}).json()
            assert past["webhook"] is None, "its URL was deleted"
    client.delete("/users/reused")


def test_choice__wrong__has_all_faults_and_stores_nothing(nora: httpx.Client, service: Running) -> None:
    begin = service.end()
    hook = {"url": "file:///etc/passwd", "kinds": ["x"], "secret": "short"}
    answer = nora.put("/users/nora/notifications", json={"mail": ["job-ended", "y"], "webhook": hook})
    assert answer.status_code == 422
    wheres = [each["where"] for each in answer.json()["errors"]]
    assert sorted(wheres) == ["mail", "webhook.kinds", "webhook.secret", "webhook.url"]
    for url in (
        "http://",
        "http://user@h/",
        "http://h/#a",
        "http://h:99999/",
        "http://h/ a",
        "http://h/\u00e9",
        "http://h/\0",
        "http://h/\x7f",
    ):
        answer = nora.put("/users/nora/notifications", json={"webhook": {**HOOK, "url": url}})
        assert [each["where"] for each in answer.json()["errors"]] == ["webhook.url"], url
    answer = nora.put("/users/nora/notifications", json={"webhook": {**HOOK, "secret": "\0" * 20}})
    assert [each["where"] for each in answer.json()["errors"]] == ["webhook.secret"]
    assert not [each for each in service.events(begin) if each["subject"] == "user/nora"]


def test_choice__of_another_user__is_for_admins_alone(nora: httpx.Client, client: httpx.Client) -> None:
    paths = ("/users/admin/notifications", "/users/admin/notifications/messages")
    assert [nora.get(path).status_code for path in paths] == [403, 403]
    assert nora.put(paths[0], json={}).status_code == 403
    assert client.get("/users/nobody-at-all/notifications").status_code == 404


def test_messages__of_a_user__in_pages_and_by_state(
    nora: httpx.Client, client: httpx.Client, service: Running
) -> None:
    log = EventLog(service.database.service_url)
    rows = b"""
    INSERT INTO live.notifications
        (id, user_name, channel, lane, kind, title, event, state, last_error, created_at)
    SELECT 'nora-' || n, 'nora', 'mail', 'mail', 'job-ended', 'Job ' || n, '', s, e,
           now() - make_interval(days => d)
    FROM (VALUES (1, 'sent', NULL, 0), (2, 'given-up', '550 gone', 0), (3, 'sent', NULL, 0),
                 -- To an earlier user of this name.
                 (4, 'sent', NULL, 1)) AS v (n, s, e, d)
    RETURNING id"""
    log.rows(rows, ())
    try:
        path = "/users/nora/notifications/messages"
        page = nora.get(path, params={"limit": 2}).json()
        assert [each["title"] for each in page["messages"]] == ["Job 3", "Job 2"]
        rest = nora.get(page["next"]).json()
        assert [each["title"] for each in rest["messages"]] == ["Job 1"] and rest["next"] is None
        (failed,) = client.get(path, params={"state": "given-up"}).json()["messages"]
        assert (failed["title"], failed["last_error"], failed["next_attempt_at"]) == (
            "Job 2",
            "550 gone",
            None,
        )
        everybody = client.get("/notification-messages", params={"user": "nora", "state": "given-up"})
        assert everybody.json()["messages"] == [failed] and failed["user"] == "nora"
        assert failed in client.get("/notification-messages").json()["messages"]
        assert nora.get(path, params={"state": "lost"}).status_code in (400, 422)
        assert '\nlabledger_notifications{state="given-up"} 1.0\n' in client.get("/metrics").text
    finally:
        log.rows(b"DELETE FROM live.notifications WHERE user_name = 'nora' RETURNING id", ())
        log.close()
