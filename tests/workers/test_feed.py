"""The log as it arrives in a process that serves."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from api import feed as module
from api.feed import Feed
from api.store.event_log import EventLog
from api.store.requests import Append
from api.store.tailer import Tailer
from domain.events import Change
from domain.job.events import JobChanged
from tests.harness.databases import TestDatabase
from tests.harness.making import STAMP

JOBS = 20
HAPPENED = JobChanged(whiteboard="", retention_tag="scratch", product=None)


def change_of(job: int) -> Append:
    subject = f"job/{job}"
    return Append(f"change/{job}", (Change(subject, HAPPENED, STAMP),), {subject: 0})


def test_feed__many_commits_and_more_behind_them__it_pauses_only_when_all_is_read(
    database: TestDatabase, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_EACH_OF_MANY", 3600.0)
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
