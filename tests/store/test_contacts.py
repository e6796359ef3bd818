"""Tests of the last contacts of lab controllers."""

from __future__ import annotations

from store.contacts import GRAIN_SECONDS, Contacts
from store.event_log import EventLog
from tests.harness.sessions import Owner


def test_heard__once_and_again__the_latest_is_kept(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.last_heard() == {}
    contacts.store("a")
    contacts.store("b")
    first = contacts.last_heard()
    contacts.store("a")
    then = contacts.last_heard()
    assert then["a"] > first["a"] and then["b"] == first["b"]
    assert log.end() == 0


def test_heard__stamped_by_the_database__between_two_of_its_times(log: EventLog) -> None:
    contacts = Contacts(log)
    before = contacts.last_contacts().now
    contacts.store("a")
    heard = contacts.last_contacts()
    assert before <= heard.last["a"] <= heard.now


def test_heard__after_the_databases_clock_was_set_back__goes_back_with_it(
    log: EventLog, owner: Owner
) -> None:
    contacts = Contacts(log)
    contacts.store("a")
    owner.execute("UPDATE live.contacts SET last_heard_at = last_heard_at + interval '4 hours'")
    contacts.store("a")
    heard = contacts.last_contacts()
    assert heard.last["a"] <= heard.now


def test_is_due__many_at_once__one_every_few_seconds(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.must_store("a", 100.0) and not contacts.must_store("a", 100.0)
    assert not contacts.must_store("a", 100.0 + GRAIN_SECONDS / 2)
    assert contacts.must_store("b", 100.0) and contacts.must_store("a", 100.0 + GRAIN_SECONDS)
