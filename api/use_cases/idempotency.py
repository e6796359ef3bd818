"""Idempotency: a repeated request gets the answer of the first one, and changes nothing again.

An Idempotency-Key becomes the command id of the append, so key, answer and events are in one commit. A
repeated request finds that commit by its command id.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from api.headers import IDEMPOTENCY_KEY
from api.request_context import RequestContext
from api.use_cases.ports import Log
from domain.errors import Fault, FaultyInput, Refused
from store.requests import Committed, Conflict


async def done_before(log: Log, request: RequestContext) -> Committed | None:
    """Return the commit made under the request's key, if any. Raises FaultyInput as `require_same` does."""
    if request.command_id is None:
        return None
    done = await asyncio.to_thread(log.commit_of, request.command_id)
    if done is not None:
        require_same(request, done)
    return done


@dataclass
class FirstCommit:
    """The commit of a request, or of an earlier one with the same key; None if nothing is committed yet."""

    commit: Committed | None


@asynccontextmanager
async def idempotent(log: Log, request: RequestContext) -> AsyncIterator[FirstCommit]:
    """Yield the commit of an earlier request with the same key; if it is None, the caller makes and sets it.

    `commit` stays None only if there was nothing to change. Raises FaultyInput as `require_same` does, and
    the errors of the caller.
    """
    first = FirstCommit(await done_before(log, request))
    try:
        yield first
    except (Refused, Conflict):
        # Of two concurrent requests with one key, the second may be refused because of the first's commit,
        first.commit = await done_before(log, request)
        if first.commit is None:
            raise
    if first.commit is None:
        # or find nothing left to change,
        first.commit = await done_before(log, request)
    # or its append finds the first's commit.
    if first.commit is not None and first.commit.repeated:
        require_same(request, first.commit)


def require_same(request: RequestContext, done: Committed) -> None:
    """Raise FaultyInput if the key was used for another request."""
    if request.digest != done.digest:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, "was used for another request")])


async def items_done_before(
    log: Log, request: RequestContext, numbers: Collection[int]
) -> dict[int, Committed]:
    """Return the earlier commits of the items of a message, by their numbers."""
    if request.command_id is None or not numbers:
        return {}
    asked = {str(item_request(request, number).command_id): number for number in numbers}
    found = await asyncio.to_thread(log.commits_of, list(asked))
    for done in found.values():
        require_same(request, done)
    return {asked[command_id]: done for command_id, done in found.items()}


def item_request(request: RequestContext, number: int) -> RequestContext:
    """Return the request for one item of a message, which has its own commit and so its own key."""
    if request.command_id is None:
        return request
    return replace(request, command_id=f"{request.command_id}/{number}")
