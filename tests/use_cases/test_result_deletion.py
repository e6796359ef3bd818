"""The loop of a serving process that deletes results."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from api import result_deletion
from api.result_deletion import ResultDeletion
from domain.job.retention import DEFAULT_TAGS, RetentionTag, RetentionTags
from postgres.errors import DatabaseAway

WEEK = RetentionTag("week", 7)
PARTS: Any = object()


@pytest.mark.parametrize("error", [DatabaseAway("away"), ValueError("a bug")])
def test_loop__an_error__goes_on_with_the_tags_that_have_days(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    calls: list[Sequence[RetentionTag]] = []

    async def run() -> None:
        done = asyncio.Event()

        async def delete(parts: object, tags: Sequence[RetentionTag]) -> int:
            calls.append(tags)
            if len(calls) == 1:
                raise error
            done.set()
            return 1

        monkeypatch.setattr(result_deletion, "delete_due_results", delete)
        for tags in (DEFAULT_TAGS, [WEEK, *DEFAULT_TAGS]):
            loop = ResultDeletion(PARTS, RetentionTags(tags), interval_seconds=0)
            await loop.open()
            if tags is not DEFAULT_TAGS:
                await asyncio.wait_for(done.wait(), 10)
            await loop.close()

    asyncio.run(run())
    assert calls[:2] == [[WEEK], [WEEK]]
