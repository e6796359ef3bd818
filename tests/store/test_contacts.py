"""When lab controllers were last heard."""

from __future__ import annotations

from api.store.contacts import GRAIN_SECONDS, Contacts
from api.store.event_log import EventLog
from tests.harness.sessions import Owner


def test_heard__once_and_again__the_latest_is_kept(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.last_heard() == {}
    contacts.heard("a", 0.0)
    contacts.heard("b", 0.0)
    first = contacts.last_heard()
    contacts.heard("a", GRAIN_SECONDS)
    then = contacts.last_heard()
    assert then["a"] > first["a"] and then["b"] == first["b"]
    assert log.end() == 0


def test_heard__stamped_by_the_database__between_two_of_its_times(log: EventLog) -> None:
    contacts = Contacts(log)
    before = contacts.heard_by_clock().now
    contacts.heard("a", 0.0)
    heard = contacts.heard_by_clock()
    assert before <= heard.last["a"] <= heard.now


def test_heard__after_the_databases_clock_was_set_back__goes_back_with_it(
    log: EventLog, owner: Owner
) -> None:
    contacts = Contacts(log)
    contacts.heard("a", 0.0)
    owner.execute("UPDATE live.contacts SET last_heard_at = last_heard_at + interval '4 hours'")
    contacts.heard("a", GRAIN_SECONDS)
    heard = contacts.heard_by_clock()
    assert heard.last["a"] <= heard.now


def test_is_news__heard_a_moment_ago__only_every_few_seconds(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.is_news("a", 100.0)
    contacts.heard("a", 100.0)
    assert not contacts.is_news("a", 100.0 + GRAIN_SECONDS / 2)
    assert contacts.is_news("b", 100.0) and contacts.is_news("a", 100.0 + GRAIN_SECONDS)
