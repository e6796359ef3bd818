"""Contacts of labs, and counts for quotas."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.events import Change, Event, Stamp
from domain.recipe.events import RecipeAborted, RecipeCompleted, RecipeQueued
from store.contacts import GRAIN_SECONDS, Contacts
from store.event_log import EventLog
from store.migrate import migrations
from store.quota_counts import unfinished_count
from store.requests import AppendRequest, Committed, Conflict
from tests.domain.recipe.samples import recipe_new
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


def test_must_store__many_at_once__one_every_few_seconds(log: EventLog) -> None:
    contacts = Contacts(log)
    assert contacts.must_store("a", 100.0) and not contacts.must_store("a", 100.0)
    assert not contacts.must_store("a", 100.0 + GRAIN_SECONDS / 2)
    assert contacts.must_store("b", 100.0) and contacts.must_store("a", 100.0 + GRAIN_SECONDS)


STAMP = Stamp(datetime(2026, 1, 1, tzinfo=UTC), "eve", "request/test")
DROPPED = b"DROP TABLE live.written, live.unfinished"


def begun(name: str, owner: str, *numbers: int) -> AppendRequest:
    return _append(name, {number: (0, recipe_new(number, owner=owner)) for number in numbers})


def ended(name: str, event: Event, *numbers: int, version: int = 1) -> AppendRequest:
    return _append(name, dict.fromkeys(numbers, (version, event)))


def _append(name: str, events: dict[int, tuple[int, Event]]) -> AppendRequest:
    changes = tuple(Change(f"recipe/{number}", event, STAMP) for number, (_, event) in events.items())
    return AppendRequest(
        name, changes, {f"recipe/{number}": version for number, (version, _) in events.items()}
    )


def counts(log: EventLog) -> tuple[int, int]:
    return unfinished_count(log, "ada"), unfinished_count(log, "bob")


def test_append__recipes_begin_and_end__counts_by_owner_and_answers_with_them(log: EventLog) -> None:
    first, second = log.append([begun("1", "ada", 1, 2, 3), begun("2", "bob", 4)])
    assert isinstance(first, Committed) and isinstance(second, Committed)
    assert (first.unfinished_count, second.unfinished_count) == (3, 1)
    # One statement wrote both, for one author.
    assert first.author_bytes == second.author_bytes and first.author_bytes is not None
    refused, moved, done = log.append(
        [begun("refused", "ada", 1), ended("3", RecipeQueued("busy"), 2), ended("4", RecipeCompleted(), 1, 4)]
    )
    assert isinstance(refused, Conflict)
    assert isinstance(moved, Committed) and moved.unfinished_count is None
    assert isinstance(done, Committed) and (done.author_bytes or 0) > first.author_bytes
    assert counts(log) == (2, 0)
    (again,) = log.append([ended("4", RecipeCompleted(), 1, 4)])
    assert isinstance(again, Committed) and (again.repeated, again.author_bytes) == (True, None)
    assert counts(log) == (2, 0)


def test_migration__log_from_before__counts_its_unfinished_recipes(log: EventLog, owner: Owner) -> None:
    log.append([begun("1", "ada", 1, 2, 3), begun("2", "bob", 4)])
    log.append([ended("3", RecipeAborted("no power"), 2, 4)])
    (quotas,) = (migration for migration in migrations() if migration.name == "2026-11-23-quotas")
    owner.execute(DROPPED)
    owner.execute(quotas.text.encode())
    assert counts(log) == (2, 0)
    log.append([ended("4", RecipeCompleted(), 1)])
    assert counts(log) == (1, 0)
