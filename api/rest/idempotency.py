"""Idempotency-Key: a repeated request gets the first answer, and changes nothing again.

The key becomes the command id of the append, so key, answer and events are in one commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace

from falcon.asgi import Request as HttpRequest

from api.headers import IDEMPOTENCY_KEY
from api.rest.contract.parameters import MAX_KEY_LENGTH
from api.rest.middleware.principal import request_of
from api.services import Request, Services
from api.use_cases.idempotency import written_once
from domain.errors import Fault, FaultyInput
from store.requests import Committed


async def once(
    services: Services,
    req: HttpRequest,
    body: bytes,
    write: Callable[[Request], Awaitable[Committed | None]],
) -> Committed | None:
    """Return the commit of this request, or of an earlier one with the same key.

    Raises FaultyInput if the key was used for another request.
    """
    return await written_once(services, keyed_request(req, body), write)


def keyed_request(req: HttpRequest, body: bytes) -> Request:
    """Return the request of a POST; the same key of the same user gives the same command id."""
    request = request_of(req)
    key = req.get_header(IDEMPOTENCY_KEY)
    if key is None:
        return request
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, f"a key has 1 to {MAX_KEY_LENGTH} characters")])
    digest = hashlib.sha256(b"\0".join((req.method.encode(), req.path.encode(), body))).digest()
    owned = hashlib.sha256(f"{request.actor}\0{key}".encode()).hexdigest()
    return replace(request, command_id=f"key/{owned}", digest=digest)
