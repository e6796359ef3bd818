"""What a request with an Idempotency-Key has done before: its commit is found again by its command id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from api.headers import IDEMPOTENCY_KEY
from api.services import Request, Services
from domain.errors import Fault, FaultyInput, Refused
from store.requests import Committed, Conflict


async def done_before(services: Services, request: Request) -> Committed | None:
    """The commit made under the request's key, if there is one. Raises FaultyInput as `require_same` does."""
    if request.command_id is None:
        return None
    done = await asyncio.to_thread(services.log.commit_of, request.command_id)
    if done is not None:
        require_same(request, done)
    return done


async def written_once(
    services: Services, request: Request, write: Callable[[Request], Awaitable[Committed | None]]
) -> Committed | None:
    """The commit that this request makes, or made when it came before with the same key.

    Raises FaultyInput as `require_same` does, and what `write` raises.
    """
    done = await done_before(services, request)
    if done is None:
        try:
            # Of two with one key at once, the second finds the first's commit instead of making its own,
            done = await write(request)
        except (Refused, Conflict):
            # or is refused because of what the first has just done.
            done = await done_before(services, request)
            if done is None:
                raise
        if done is None:
            # Or there was nothing left to do, because the first has just done it.
            done = await done_before(services, request)
    if done is not None and done.repeated:
        require_same(request, done)
    return done


def require_same(request: Request, done: Committed) -> None:
    """Raises FaultyInput for a key that came with another request."""
    if request.digest != done.digest:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, "this key was used for another request")])


async def parts_done_before(
    services: Services, request: Request, numbers: Collection[int]
) -> dict[int, Committed]:
    """The same for the items of a message, by their numbers."""
    if request.command_id is None or not numbers:
        return {}
    asked = {str(part(request, number).command_id): number for number in numbers}
    found = await asyncio.to_thread(services.log.commits_of, list(asked))
    for done in found.values():
        require_same(request, done)
    return {asked[command_id]: done for command_id, done in found.items()}


def part(request: Request, number: int) -> Request:
    """A request for one of many items in a message, each a commit of its own: it has a key of its own."""
    if request.command_id is None:
        return request
    return replace(request, command_id=f"{request.command_id}/{number}")
