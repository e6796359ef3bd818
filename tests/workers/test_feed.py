"""The feed of events, and the follower of past positions."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from api import feed as module
from api.feed import Feed
from domain.directory.events import PoolRegistered
from domain.events import Change
from domain.job.events import JobChanged
from domain.scheduling.world.partition import Partition
from store.event_log import EventLog
from store.requests import AppendRequest
from store.snapshots import Snapshots
from store.tailer import Tailer
from tests.domain.scheduling.contents import snapshot_of
from tests.harness.appends import STAMP, whole_log
from tests.harness.databases import TestDatabase
from tests.workers.conftest import Start
from tests.workers.lab import submit_jobs
from tests.workers.run_once import run_once
from workers.explaining import follower as following
from workers.explaining.follower import PAST, Follower

JOBS = 20
QUESTIONS = 5
# The feed has read the event by then, and waits. On a slow machine the test proves less.
SECONDS_UNTIL_READ = 1.0
HAPPENED = JobChanged(whiteboard="", retention_tag="scratch", product=None)


def change_of(job: int) -> AppendRequest:
    subject = f"job/{job}"
    return AppendRequest(f"change/{job}", (Change(subject, HAPPENED, STAMP),), {subject: 0})


def registered(subject: str) -> AppendRequest:
    return AppendRequest(f"register/{subject}", (Change(subject, PoolRegistered(None), STAMP),), {subject: 0})


def test_feed__many_long_questions__an_event_waits_for_one_of_them_alone(
    database: TestDatabase, log: EventLog
) -> None:
    """Ask long questions: they must not delay new and revoked tokens of all users."""
    answered: list[int] = []
    may_answer = threading.Semaphore(0)

    def question(number: int) -> None:
        may_answer.acquire(timeout=60)
        answered.append(number)

    async def folded_after() -> list[int]:
        feed = Feed(log, database.service_url)
        await feed.open()
        try:
            asked = [
                asyncio.create_task(feed.run_long_query(f"user-{n}", partial(question, n)))
                for n in range(QUESTIONS)
            ]
            done = await asyncio.to_thread(log.append, [registered("pool/new")])
            await asyncio.sleep(SECONDS_UNTIL_READ)
            may_answer.release()
            async with asyncio.timeout(20):
                while feed.position < done[0].position:
                    await asyncio.sleep(0.01)
            before = list(answered)
            may_answer.release(QUESTIONS)
            await asyncio.gather(*asked)
            return before
        finally:
            may_answer.release(QUESTIONS)
            await feed.close()

    assert asyncio.run(folded_after()) == [0]


def test_feed__many_commits_and_more_behind_them__it_pauses_only_when_all_is_read(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_PAGE_SECONDS_UNDER_LOAD", 3600.0)
    monkeypatch.setattr(module, "Tailer", partial(Tailer, page_size=JOBS // 4))

    async def followed() -> None:
        feed = Feed(log, database.service_url)
        await feed.open()
        try:
            await asyncio.to_thread(log.append, list(map(change_of, range(JOBS))))
            async with asyncio.timeout(20):
                while feed.position < JOBS:
                    await asyncio.sleep(0.01)
        finally:
            await feed.close()

    asyncio.run(followed())


@pytest.fixture
def follower(database: TestDatabase) -> Iterator[Follower]:
    with closing(Follower(database.service_url, moment=PAST)) as made:
        yield made


def test_follower__any_position_in_any_order__has_the_state_of_the_log_there(
    log: EventLog, start: Start, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SNAPSHOT_COST_EVENTS", 5)
    monkeypatch.setattr("store.snapshots.SPAN_EVENTS", 20)
    run_once(log, start, jobs=3)
    kept = _knowing_up_to(log, log.end() // 2)
    Snapshots(log).save(kept)
    submit_jobs(log, 3)
    begun = _record_beginnings(monkeypatch)

    ends = sorted({recorded.commit_end for recorded in whole_log(log)})
    assert snapshot_of(follower.at_end()) == snapshot_of(_knowing_up_to(log, ends[-1]))
    for position in (ends[-2], ends[0], ends[-1], ends[len(ends) // 3], kept.position, ends[-3]):
        assert snapshot_of(follower.at(position)) == snapshot_of(_knowing_up_to(log, position))
    assert {0, kept.position} < {*begun}


def test_follower__one_past_after_another__is_not_kept(
    log: EventLog, start: Start, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SNAPSHOT_COST_EVENTS", 0)
    run_once(log, start, jobs=3)
    follower.at_end()
    ends = sorted({recorded.commit_end for recorded in whole_log(log)})
    try:
        left = [weakref.ref(follower.at(position)) for position in ends[:3]]
        assert [each() is None for each in left] == [True, True, False]
    finally:
        gc.unfreeze()


def _record_beginnings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the positions at which followers begin."""
    found: list[int] = []
    load = Snapshots.load

    def loaded(snapshots: Snapshots, upto: int | None = None) -> Partition:
        partition = load(snapshots, upto)
        found.append(partition.position)
        return partition

    monkeypatch.setattr(Snapshots, "load", loaded)
    return found


def _knowing_up_to(log: EventLog, position: int) -> Partition:
    """Return a partition folded from the beginning, up to the last commit that ends at the position."""
    partition = Partition()
    for recorded in whole_log(log):
        if recorded.commit_end <= position:
            partition.apply(recorded)
    return partition
