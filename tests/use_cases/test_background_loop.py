"""The loops of a serving process."""

from __future__ import annotations

import asyncio

import pytest

from api.background_loop import BackgroundLoop
from postgres.errors import DatabaseAway
from tests.harness.waiting import PATIENCE_SECONDS


def test_loop__steps_that_fail__goes_on_until_it_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [DatabaseAway("away"), ValueError("a bug")]
    steps = 0

    async def run() -> None:
        both_failed = asyncio.Event()

        async def step() -> None:
            nonlocal steps
            steps += 1
            if errors:
                raise errors.pop(0)
            both_failed.set()

        loop = BackgroundLoop(step, 0, "nothing deleted")
        await loop.open()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await both_failed.wait()
        await loop.close()
        ended = steps
        for _ in range(5):
            await asyncio.sleep(0)
        assert steps == ended

    asyncio.run(run())
    # What the service waits for anyway is no error.
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "nothing deleted; retrying"
    ]


def test_close__of_a_loop_that_was_not_opened__does_nothing() -> None:
    asyncio.run(BackgroundLoop(asyncio.Event().wait, 0, "nothing deleted").close())
