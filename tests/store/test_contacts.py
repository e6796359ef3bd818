"""When lab controllers were last heard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from api.store.contacts import GRAIN, Contacts
from api.store.event_log import EventLog

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_heard__once_and_again__the_latest_is_kept(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.last_heard() == {}
    contacts.heard("a", NOON)
    contacts.heard("b", NOON)
    contacts.heard("a", NOON + GRAIN)
    assert contacts.last_heard() == {"a": NOON + GRAIN, "b": NOON}
    assert log.end() == 0


def test_heard__by_a_process_whose_clock_is_behind__does_not_go_back(log: EventLog) -> None:
    Contacts(log).heard("a", NOON)
    other = Contacts(log)
    other.heard("a", NOON - timedelta(hours=1))
    assert other.last_heard() == {"a": NOON}


def test_is_news__heard_a_moment_ago__only_every_few_seconds(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.is_news("a", NOON)
    contacts.heard("a", NOON)
    assert not contacts.is_news("a", NOON + GRAIN / 2)
    assert contacts.is_news("b", NOON) and contacts.is_news("a", NOON + GRAIN)
