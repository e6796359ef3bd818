"""Idempotency: a repeated request changes nothing, and gets the answer of the first one.

An Idempotency-Key becomes the command id of the append, so key, answer and events are in one commit, which a
repeated request finds by the command id.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

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


@dataclass
class FirstCommit:
    """The commit of a request, or of an earlier one with the same key; None if there is none so far."""

    commit: Committed | None


@asynccontextmanager
async def idempotent(log: Log, request: RequestContext) -> AsyncIterator[FirstCommit]:
    """Yield the commit of an earlier request with the key; if it is None, the caller commits and sets it.

    A concurrent request with the same key may commit first. Then the caller is refused, has nothing to
    change, or gets that commit from its own append; in each case `commit` becomes that commit. Raises
    FaultyInput as `require_same` does, and the errors of the caller.
    """
    first = FirstCommit(await done_before(log, request))
    try:
        yield first
    except (Refused, Conflict):
        first.commit = await done_before(log, request)
        if first.commit is None:
            raise
    if first.commit is None:
        first.commit = await done_before(log, request)
    if first.commit is not None and first.commit.repeated:
        require_same(request, first.commit)


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


def item_request(request: RequestContext, number: int) -> RequestContext:
    """Return the request for one item of a message, with a command id of its own for its own commit."""
    if request.command_id is None:
        return request
    return replace(request, command_id=f"{request.command_id}/{number}")
