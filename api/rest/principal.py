"""Who asks, and by which request: what resources hand on to the use cases."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from falcon.asgi import Request as HttpRequest

from api.services import Request, Services
from api.store.requests import Committed
from domain.errors import Fault, FaultyInput

KEY_HEADER = "Idempotency-Key"
MAX_KEY_LENGTH = 255


@dataclass(frozen=True)
class Principal:
    """The user a token speaks for, in which role; a lab controller's token names its lab."""

    user: str
    role: str
    lab_controller: str | None

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"


def principal_of(req: HttpRequest) -> Principal:
    principal: Principal = req.context.principal
    return principal


def request_of(req: HttpRequest, body: bytes = b"") -> Request:
    """The request behind a change; the same Idempotency-Key always gives the same command id."""
    actor = principal_of(req).user
    key = req.get_header(KEY_HEADER)
    if key is None or req.method != "POST":
        return Request(actor, req.context.request_id)
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise FaultyInput([Fault(KEY_HEADER, f"a key has 1 to {MAX_KEY_LENGTH} characters")])
    digest = hashlib.sha256(b"\0".join((req.method.encode(), req.path.encode(), body))).digest()
    owned = hashlib.sha256(f"{actor}\0{key}".encode()).hexdigest()
    return Request(actor, req.context.request_id, f"key/{owned}", digest)


def first_answer(services: Services, request: Request) -> Committed | None:
    """The commit that was made for this key before. Blocking. Raises FaultyInput for another body."""
    if request.command_id is None:
        return None
    done = services.log.commit_of(request.command_id)
    return None if done is None else same_body(request, done)


def same_body(request: Request, done: Committed) -> Committed:
    """The commit, if it was made for this very body. Raises FaultyInput otherwise."""
    if done.repeated and done.digest != request.digest:
        raise FaultyInput([Fault(KEY_HEADER, "this key was used for another request")])
    return done
