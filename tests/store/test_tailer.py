"""Readers of the log: the tailer, and selections of pages."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from typing import Any

import pytest

from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from store import tailer as tailer_module
from store.event_log import EventLog
from store.selection import Selection
from store.tailer import Notified, Tailer
from tests.harness.appends import append_to, whole_log
from tests.harness.bulk import BulkEvents
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, end_sessions, named
from tests.harness.waiting import wait_until

DEAF = b"CREATE OR REPLACE FUNCTION log.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''"


@contextmanager
def tailer(database: TestDatabase, **options: int) -> Iterator[Tailer]:
    with closing(Tailer(named(database.service_url, "tailer"), **options)) as tailer:
        yield tailer


def read(tailer: Tailer, upto: int) -> list[int]:
    """Return the delivered positions up to the given one."""
    seen: list[int] = []
    wait_until(
        lambda: seen.extend(row.position for row in tailer.next_page(1.0)) or (seen and seen[-1] >= upto)
    )
    return seen


@pytest.mark.promise
def test_next_page__commit_longer_than_a_page__delivered_whole(log: EventLog) -> None:
    log.append([append_to("a")])
    log.append([append_to(*["b"] * 7)])
    log.append([append_to("c")])
    with closing(log.follow(page_size=3)) as reader:
        pages = [[row.position for row in reader.next_page(1.0)] for _ in range(3)]

    assert pages == [list(range(1, 9)), [9], []]


@pytest.mark.promise
def test_next_page__of_a_partition__its_events_and_those_of_all(log: EventLog) -> None:
    for number, partition in enumerate([0, 1, 2, 1, 2, 0, 2, 1, 2]):
        log.append([append_to(*[f"subject/{number}"] * 2, partition=partition)])
    for page_size in range(1, 12):
        with closing(log.follow(page_size=page_size, partition=1)) as reader:
            rows = [row for _ in range(8) for row in reader.next_page(0.0)]

        assert [row.position for row in rows] == [1, 2, 3, 4, 7, 8, 11, 12, 15, 16], page_size
        assert [row.partition for row in rows[::2]] == [0, 1, 1, 0, 1], page_size
    assert [log.end_of(partition) for partition in range(4)] == [12, 16, 18, 12]
    assert [row.position for row in log.rows_between(3, 12, 1)] == [4, 7, 8, 11]


@pytest.mark.promise
def test_next_page__news_of_another_partition__none_until_its_own(log: EventLog) -> None:
    with closing(log.follow(partition=1)) as reader:
        assert reader.next_page(0.0) == []
        log.append([append_to("a", partition=2)])
        assert reader.next_page(0.1) == []
        log.append([append_to("b", partition=2), append_to("c", partition=1)])
        (row,) = reader.next_page(5.0)

    assert (row.subject, row.position) == ("c", 3)
    assert reader.counters.backstop_finds == 0


@pytest.mark.promise
def test_next_page__every_size_of_page__each_ends_where_a_commit_ends(log: EventLog) -> None:
    for number, length in enumerate([1, 4, 2, 5, 1, 1, 3]):
        log.append([append_to(*[f"subject/{number}"] * length)])
    for page_size in range(1, 19):
        with closing(log.follow(page_size=page_size)) as reader:
            pages = [reader.next_page(0.0) for _ in range(8)]
        assert all(page[-1].position == page[-1].commit_end for page in pages if page)
        assert [row.position for page in pages for row in page] == list(range(1, 18))


@pytest.mark.promise
def test_next_page__position_given__goes_on_after_it(log: EventLog) -> None:
    log.append([append_to("a"), append_to("b"), append_to("c")])
    with closing(log.follow(after=2)) as reader:
        assert read(reader, upto=3) == [3]


@pytest.mark.promise
def test_next_page__appended_while_waiting__notified(log: EventLog) -> None:
    with closing(log.follow()) as reader, ThreadPoolExecutor(1) as pool:
        assert reader.next_page(0.0) == []
        waiting = pool.submit(reader.next_page, 60.0)
        log.append([append_to("a")])

        assert [row.position for row in waiting.result(10)] == [1]
        assert reader.counters.backstop_finds == 0


@pytest.mark.promise
def test_next_page__notified_of_rows_it_has_read__waits_for_new_rows(log: EventLog) -> None:
    with closing(log.follow()) as reader, ThreadPoolExecutor(1) as pool:
        assert reader.next_page(0.0) == []
        for subject in "abc":
            log.append([append_to(subject)])
        assert read(reader, upto=3) == [1, 2, 3]
        log.append([append_to("d")])
        reader.skip_to(4)
        waiting = pool.submit(reader.next_page, 60.0)
        time.sleep(0.2)
        log.append([append_to("e")])

        assert [row.position for row in waiting.result(10)] == [5]


def test_next_page__notification_lost__found_by_the_backstop_and_counted(
    database: TestDatabase, log: EventLog, owner: Owner
) -> None:
    with tailer(database) as reader, ThreadPoolExecutor(1) as pool:
        assert reader.next_page(0.0) == []
        silence(owner)
        waiting = pool.submit(reader.next_page, 0.5)
        log.append([append_to("a")])

        assert [row.position for row in waiting.result(10)] == [1]
        assert reader.counters.backstop_finds == 1


def test_next_page__committed_just_after_the_wait__not_counted_as_lost(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notification of a commit between wait and read comes a moment later, after a timeout of 0."""
    wait, waits = tailer_module._notified, count()

    def wait_then_append(connection: Any, timeout_seconds: float) -> list[Notified]:
        notified = wait(connection, timeout_seconds)
        if next(waits) == 0:
            log.append([append_to("a")])
        return notified

    monkeypatch.setattr(tailer_module, "_notified", wait_then_append)
    with tailer(database) as reader:
        assert [row.position for row in reader.next_page(0.0)] == [1]
        assert reader.counters.backstop_finds == 0


def test_next_page__late_notification_with_a_later_one__later_rows_read_at_once(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both notifications arrive together, and the later one is not repeated."""
    wait, waits = tailer_module._notified, count()

    def wait_while_others_append(connection: Any, timeout_seconds: float) -> list[Notified]:
        number = next(waits)
        notified = wait(connection, timeout_seconds)
        if number == 0:
            log.append([append_to("a")])
        if number == 1:
            log.append([append_to("b")])
            notified = [*notified, *wait(connection, 10.0)]
        return notified

    monkeypatch.setattr(tailer_module, "_notified", wait_while_others_append)
    with tailer(database) as reader, ThreadPoolExecutor(1) as pool:
        assert [row.position for row in reader.next_page(0.0)] == [1]
        waiting = pool.submit(reader.next_page, 30.0)
        assert [row.position for row in waiting.result(10)] == [2]
        assert reader.counters.backstop_finds == 0


def test_next_page__connection_killed_again_and_again__everything_once_and_in_order(
    database: TestDatabase, log: EventLog, owner: Owner
) -> None:
    with tailer(database, page_size=7) as reader, ThreadPoolExecutor(2) as pool:
        writing = pool.submit(append_each, log, 300)
        killing = pool.submit(kill_until, owner, "tailer", writing.done)
        seen = read(reader, upto=300)

        assert killing.result(20) > 0
    assert seen == list(range(1, 301))
    assert reader.counters.reconnects > 0


def test_next_page__database_away__empty_page_and_no_error() -> None:
    with closing(Tailer("postgresql://nobody@127.0.0.1:1/nothing")) as reader:
        assert reader.next_page(0.0) == []
        assert reader.counters.reconnects == 1


def test_read_at__empty_and_failed_reads__time_of_the_last_success(
    database: TestDatabase, owner: Owner
) -> None:
    with tailer(database) as reader:
        begun = reader.read_at
        reader.next_page(0.0)
        first = reader.read_at
        reader.next_page(0.0)
        last = reader.read_at
        end_sessions(owner, "tailer")
        assert reader.next_page(0.0) == []
        assert begun < first < last == reader.read_at
        reader.next_page(0.0)
        assert reader.read_at > last


def test_next_page__payload_without_a_number__reads(database: TestDatabase, owner: Owner) -> None:
    """Any role that may connect can notify."""
    with tailer(database) as reader, ThreadPoolExecutor(1) as pool:
        assert reader.next_page(0.0) == []
        for payload in ("rubbish", "9" * 5000, "-1", ""):
            waiting = pool.submit(reader.next_page, 0.5)
            owner.execute("SELECT pg_notify('labledger_log', %s)", (payload,))
            assert waiting.result(60) == []
        assert reader.counters.reconnects == 0


def test_iteration__closed__ends(database: TestDatabase) -> None:
    with tailer(database) as reader:
        pages = iter(reader)
        assert next(pages) == []
        reader.close()
        assert list(pages) == []


def append_each(log: EventLog, number: int) -> None:
    for version in range(number):
        log.append([append_to("each", at=version)])


def kill_until(owner: Owner, application_name: str, done: Callable[[], bool]) -> int:
    killed = 0
    while not done():
        killed += end_sessions(owner, application_name)
    return killed


def silence(owner: Owner) -> None:
    """Make appends send no notifications: a function in `log` hides the built-in one."""
    owner.execute(DEAF)
    owner.execute("ALTER FUNCTION log.append SET search_path = log, pg_catalog, pg_temp")


EVENTS = 600


@pytest.mark.promise
def test_select__random_selection__pages_have_its_events(log: EventLog) -> None:
    for name, partition, actor in ((1, DEFAULT_NUMBER, "a"), (3, 2, "b"), (4, EVERYBODY, "a")):
        BulkEvents(log, name, subjects=30, partition=partition, actor=actor).append(EVENTS // 3)
    dice, whole = random.Random(3), whole_log(log)
    found = 0
    for _ in range(100):
        selection, limit = _selection(dice), dice.choice((1, 3, 50, 1_000))
        after, upto = sorted(dice.choices(range(len(whole) + 1), k=2))
        expected = [
            one.position
            for one in whole
            if after < one.position <= upto and selection.has(one.event.TOPIC, one.subject)
            if selection.has_partition(one.partition) and selection.has_actor(one.stamp.actor)
        ]
        assert _by_pages(log, selection, after, upto, limit) == expected, (selection, after, upto, limit)
        backwards = _by_pages_backwards(log, selection, after, upto, limit)
        assert backwards == expected[::-1], (selection, after, upto, limit)
        found += len(expected)
    assert found > 300


@pytest.mark.promise
@pytest.mark.parametrize("subject", [None, ("recipe/*",), ("recipe/31", "system/*")])
@pytest.mark.parametrize("topics", [None, ("recipe.queued", "recipe.running")])
def test_select__hidden_topics__in_no_page_and_no_page_ends_early(
    log: EventLog, topics: tuple[str, ...] | None, subject: tuple[str, ...] | None
) -> None:
    BulkEvents(log, subjects=30).append(EVENTS)
    selection, end = Selection(topics, subject, ("recipe.queued",)), log.end()
    whole = [one for one in whole_log(log) if Selection(topics, subject).has(one.event.TOPIC, one.subject)]
    expected = [one.position for one in whole if one.event.TOPIC != "recipe.queued"]
    assert 0 < len(expected) < len(whole)
    for limit in (1, 7, 1_000):
        assert _by_pages(log, selection, 0, end, limit) == expected


def _selection(dice: random.Random) -> Selection:
    topics = dice.choice((None, ("recipe.queued",), ("system.idle", "recipe.running"), ("pool.changed",)))
    named = [f"recipe/{30 + dice.randrange(30)}" for _ in range(dice.randrange(4))]
    kinds = dice.choice(([], [], ["recipe/*"], ["system/*"], ["pool/*", "system/*"]))
    hidden = dice.choice(((), (), ("recipe.queued",), ("system.idle", "pool.changed")))
    partition = dice.choice((None, None, DEFAULT_NUMBER, 2, 3))
    actor = dice.choice((None, None, "a", "b"))
    return Selection(topics, (*named, *kinds) or None, hidden, partition=partition, actor=actor)


def _by_pages(log: EventLog, selection: Selection, after: int, upto: int, limit: int) -> list[int]:
    positions: list[int] = []
    while after < upto:
        found, after = log.select(after, upto, limit, selection)
        assert len(found) <= limit
        positions += [one.position for one in found]
    return positions


def _by_pages_backwards(log: EventLog, selection: Selection, after: int, upto: int, limit: int) -> list[int]:
    positions: list[int] = []
    while after < upto:
        found, upto = log.select_backwards(after, upto, limit, selection)
        assert len(found) <= limit
        positions += [one.position for one in found]
    return positions
