"""Tests of the end of tasks."""

from __future__ import annotations

import asyncio

from runtime.tasks import end_task


async def ended(*, losing: int = 0, error: Exception | None = None) -> tuple[bool, int]:
    """End a task that loses its first cancellations; return whether it was cancelled, and how many it got."""
    got = 0

    async def work() -> None:
        nonlocal got
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                got += 1
                if error is not None:
                    raise error from None
                if got > losing:
                    raise

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    await end_task(task)
    return task.cancelled(), got


def test_end_task__cancellations_get_lost__cancels_again() -> None:
    assert asyncio.run(ended()) == (True, 1)
    assert asyncio.run(ended(losing=2)) == (True, 3)


def test_end_task__with_an_error__returns() -> None:
    assert asyncio.run(ended(error=ValueError())) == (False, 1)
