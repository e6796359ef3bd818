"""The feed of the log in a serving process."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from api import feed as module
from api.feed import Feed
from domain.directory.events import PoolRegistered
from domain.events import Change
from domain.job.events import JobChanged
from store.event_log import EventLog
from store.requests import AppendRequest
from store.tailer import Tailer
from tests.harness.appends import STAMP
from tests.harness.databases import TestDatabase

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
