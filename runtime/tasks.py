"""The end of asyncio tasks that run until they are cancelled."""

from __future__ import annotations

import asyncio

# The time after which a task is cancelled again.
CANCEL_AGAIN_SECONDS = 0.5


async def end_task(task: asyncio.Task[None]) -> None:
    """Cancel a task, and return when it has ended, whatever its result.

    A cancellation may get lost: `asyncio.wait_for` of Python 3.11 returns the result of what it waits for if
    that is ready at the same moment. So the task is cancelled until it ends.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=CANCEL_AGAIN_SECONDS)
    if not task.cancelled():
        # Otherwise asyncio would log that nobody has looked at the error.
        task.exception()
