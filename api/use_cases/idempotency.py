"""Idempotency: a repeated request changes nothing, and gets the answer of the first one.

An Idempotency-Key becomes the command id of the append, so key, answer and events are in one commit, which a
repeated request finds by the command id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from api.headers import IDEMPOTENCY_KEY
from api.use_cases.ports import Log, RequestContext
from domain.errors import Fault, FaultyInput, Refused
from store.requests import Committed, Conflict


async def done_before(log: Log, request: RequestContext) -> Committed | None:
    """Return the commit with the request's key, if any. Raises FaultyInput as `require_same` does."""
    if request.command_id is None:
        return None
    done = await asyncio.to_thread(log.commit_of, request.command_id)
    if done is not None:
        require_same(request, done)
    return done


async def commit_once(
    log: Log, request: RequestContext, write: Callable[[], Awaitable[Committed | None]]
) -> Committed | None:
    """Return the commit of an earlier request with the key, otherwise that of `write`.

    Raises FaultyInput as `require_same` does, and the errors of `write`.
    """
    if (done := await done_before(log, request)) is not None:
        return done
    return await commit_unless_done(log, request, write)


async def commit_unless_done(
    log: Log, request: RequestContext, write: Callable[[], Awaitable[Committed | None]]
) -> Committed | None:
    """Return the commit of `write`, or that of a concurrent request with the same key.

    The other request may commit first. Then `write` is refused, has nothing to change, or gets that commit
    from its own append; in each case that commit is returned. Raises as `commit_once` does.
    """
    try:
        done = await write()
    except (Refused, Conflict):
        if (done := await done_before(log, request)) is None:
            raise
    if done is None:
        return await done_before(log, request)
    if done.repeated:
        require_same(request, done)
    return done


def require_same(request: RequestContext, done: Committed) -> None:
    """Raise FaultyInput if the key was used for another request."""
    if request.digest != done.digest:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, "was used for another request")])


async def items_done_before(
    log: Log, request: RequestContext, numbers: Collection[int]
) -> dict[int, Committed]:
    if request.command_id is None or not numbers:
        return {}
    numbers_by_id = {str(item_request(request, number).command_id): number for number in numbers}
    commits = await asyncio.to_thread(log.commits_of, list(numbers_by_id))
    for done in commits.values():
        require_same(request, done)
    return {numbers_by_id[command_id]: done for command_id, done in commits.items()}


async def require_no_item_commits(log: Log, request: RequestContext, count: int) -> None:
    """Raise FaultyInput if the key of a request was used for items with commits of their own.

    Only items with these numbers, from 0, are found.
    """
    await items_done_before(log, request, range(count))


async def require_no_joint_commit(log: Log, request: RequestContext) -> None:
    """Raise FaultyInput if the key of a request was used for one commit of all its jobs."""
    if await done_before(log, request) is not None:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, "was used for one commit of all jobs")])


def item_request(request: RequestContext, number: int) -> RequestContext:
    """Return the request for one item of a message, with a command id of its own for its own commit."""
    if request.command_id is None:
        return request
    return replace(request, command_id=f"{request.command_id}/{number}")
