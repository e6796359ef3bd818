"""Tests of leases and fences: a new holder raises the epoch, and appends of older epochs are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import psycopg
import pytest

from store.datastore import connect
from store.event_log import EventLog
from store.lease import Lease
from store.requests import AppendRequest, Committed, Fence, Fenced
from tests.harness.appends import append_to
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, end_sessions, lock_waiters, named, owner_session
from tests.harness.waiting import wait_until

NAME = "scheduler/test"

EQUAL_HASHES = b"""
SELECT array_agg(name) FROM (SELECT 'scheduler/' || g AS name FROM generate_series(1, 400000) AS g) AS named
GROUP BY hashtext(name) HAVING count(*) > 1 LIMIT 1
"""


@contextmanager
def lease(url: str, holder: str, name: str = NAME) -> Iterator[Lease]:
    lease = Lease(named(url, holder), name, holder)
    try:
        yield lease
    finally:
        lease.release()


def test_lease__held_by_another__not_given(database: TestDatabase) -> None:
    url = database.service_url
    with lease(url, "first") as first, lease(url, "second") as second:
        assert first.try_take() == Fence(NAME, 1)
        assert second.try_take() is None
        assert first.is_held()


def test_lease__names_with_equal_hashes__both_given(database: TestDatabase, owner: Owner) -> None:
    url, ((first_name, second_name, *_),) = database.service_url, owner.execute(EQUAL_HASHES).fetchone()
    with lease(url, "first", first_name) as first, lease(url, "second", second_name) as second:
        assert first.try_take() == Fence(first_name, 1)
        assert second.try_take() == Fence(second_name, 1)


def test_lease__session_of_the_holder_ended__next_one_gets_a_later_epoch(
    database: TestDatabase, owner: Owner
) -> None:
    url = database.service_url
    with lease(url, "first") as first, lease(url, "second") as second:
        first.try_take()
        assert end_sessions(owner, "first") == 1

        wait_until(lambda: second.try_take() == Fence(NAME, 2))
        assert not first.is_held()


def test_lease__database_away__none_and_no_error() -> None:
    with lease("postgresql://nobody@127.0.0.1:1/nothing", "first") as first:
        assert first.try_take() is None
        assert not first.is_held()


def test_append__lease_was_taken_by_another__fenced_and_nothing_written(
    log: EventLog, database: TestDatabase, owner: Owner
) -> None:
    url = database.service_url
    with lease(url, "zombie") as zombie, lease(url, "next") as following:
        old = zombie.try_take()
        assert end_sessions(owner, "zombie") == 1
        wait_until(lambda: (new := following.try_take()) and new.epoch == 2)

        refused, unfenced = log.append([append_to("a", fence=old), append_to("b")])

    assert isinstance(refused, Fenced)
    assert isinstance(unfenced, Committed), "only the request with the old epoch is refused"
    assert log.end() == 1


@pytest.mark.promise
def test_append__lease_nobody_ever_took__fenced(log: EventLog) -> None:
    (outcome,) = log.append([append_to("a", fence=Fence("never/taken", 1))])

    assert isinstance(outcome, Fenced)


@pytest.mark.promise
def test_append__epoch_raised_since__fenced(log: EventLog, next_epoch: Callable[[str], int]) -> None:
    old, new = (Fence(NAME, next_epoch(NAME)) for _ in range(2))

    refused, written = log.append([append_to("a", fence=old), append_to("b", fence=new)])

    assert isinstance(refused, Fenced)
    assert isinstance(written, Committed)


@pytest.mark.promise
def test_append__with_a_lease__names_the_last_position_before_it_that_its_partition_reads(
    log: EventLog, next_epoch: Callable[[str], int]
) -> None:
    fence = Fence(NAME, next_epoch(NAME))

    def decided(subject: str, partition: int) -> AppendRequest:
        return append_to(subject, fence=fence, partition=partition)

    def preceding(*requests: AppendRequest) -> int | None:
        *_, last = log.append(requests)
        assert isinstance(last, Committed)
        return last.preceding

    assert preceding(decided("a", 1)) == 0
    assert preceding(append_to("b", "c", partition=2), decided("d", 1)) == 1
    assert preceding(append_to("e", "f"), decided("g", 1)) == 6
    assert preceding(decided("h", 1), decided("i", 2)) == 6
    assert preceding(append_to("j", partition=2)) is None, "only decisions are confirmed"


@pytest.mark.parametrize(
    ("first", "fenced"),
    [
        ("append", False),  # the new holder waits for the commit, and sees it
        ("lease", True),  # the append waits for the new epoch, which fences it
    ],
)
def test_append__lease_changes_hands_meanwhile__the_first_to_lock_wins(
    log: EventLog, database: TestDatabase, owner: Owner, first: str, fenced: bool
) -> None:
    url = database.service_url
    fence = Fence(NAME, take_lease(url))
    with ThreadPoolExecutor(2) as pool, owner_session(database.owner_url) as blocker:
        # Both wait for the row of the lease, in this order.
        with blocker.transaction():
            blocker.execute("SELECT FROM log.leases FOR UPDATE")
            append = {"append": lambda: pool.submit(log.append, [append_to("a", fence=fence)])}
            steps = append | {"lease": lambda: pool.submit(take_lease, url)}
            futures = {}
            for step in (first, *(step for step in steps if step != first)):
                futures[step] = steps[step]()
                wait_until(lambda: lock_waiters(owner) == len(futures))
        (outcome,) = futures["append"].result(60)

    assert futures["lease"].result(60) == 2
    assert isinstance(outcome, Fenced) == fenced
    assert log.end() == (0 if fenced else 1)


def test_append__racing_with_a_new_holder__nothing_of_the_old_epoch_after_the_new(
    log: EventLog, database: TestDatabase
) -> None:
    """The new holder can read all appends of the old holder as soon as it has the lease."""
    url = database.service_url
    fence = Fence(NAME, take_lease(url))
    with ThreadPoolExecutor(1) as pool, closing(EventLog(url)) as zombies:
        zombie = pool.submit(append_until_fenced, zombies, fence)
        wait_until(lambda: log.end() > 50)
        take_lease(url)
        seen = log.end()
        written = zombie.result(60)

    assert written == seen == log.end()


def append_until_fenced(log: EventLog, fence: Fence) -> int:
    for version in range(100_000):
        (outcome,) = log.append([append_to("zombie", at=version, fence=fence)])
        if isinstance(outcome, Fenced):
            return version
    raise AssertionError("never fenced")


def take_lease(url: str) -> int:
    """Raise the epoch without the advisory lock, because only the fence is tested."""
    session: psycopg.Connection[tuple[int]] = connect(url)
    with session:
        row = session.execute("SELECT log.take_lease(%s, 'next')", (NAME,)).fetchone()
    assert row is not None
    return row[0]
