"""Idempotency: the commit of an earlier request with the same Idempotency-Key is found by its command id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from api.headers import IDEMPOTENCY_KEY
from api.services import Request, Services
from domain.errors import Fault, FaultyInput, Refused
from store.requests import Committed, Conflict


async def done_before(services: Services, request: Request) -> Committed | None:
    """Return the commit made under the request's key, if any. Raises FaultyInput as `require_same` does."""
    if request.command_id is None:
        return None
    done = await asyncio.to_thread(services.log.commit_of, request.command_id)
    if done is not None:
        require_same(request, done)
    return done


async def written_once(
    services: Services, request: Request, write: Callable[[Request], Awaitable[Committed | None]]
) -> Committed | None:
    """Return the commit of this request, or of an earlier one with the same key.

    Raises FaultyInput as `require_same` does, and the errors of `write`.
    """
    done = await done_before(services, request)
    if done is None:
        try:
            # Of two concurrent requests with one key, the second finds the first's commit,
            done = await write(request)
        except (Refused, Conflict):
            # or is refused because of it,
            done = await done_before(services, request)
            if done is None:
                raise
        if done is None:
            # or finds nothing left to change.
            done = await done_before(services, request)
    if done is not None and done.repeated:
        require_same(request, done)
    return done


def require_same(request: Request, done: Committed) -> None:
    """Raise FaultyInput if the key was used for another request."""
    if request.digest != done.digest:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, "was used for another request")])


async def parts_done_before(
    services: Services, request: Request, numbers: Collection[int]
) -> dict[int, Committed]:
    """Return the earlier commits of the items of a message, by their numbers."""
    if request.command_id is None or not numbers:
        return {}
    asked = {str(part(request, number).command_id): number for number in numbers}
    found = await asyncio.to_thread(services.log.commits_of, list(asked))
    for done in found.values():
        require_same(request, done)
    return {asked[command_id]: done for command_id, done in found.items()}


def part(request: Request, number: int) -> Request:
    """Return the request for one item of a message, which has its own commit and so its own key."""
    if request.command_id is None:
        return request
    return replace(request, command_id=f"{request.command_id}/{number}")
