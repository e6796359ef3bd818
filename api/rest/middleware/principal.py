"""The principal of a request, and the context of its change, which resources pass to use cases."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final

from falcon.asgi import Request

from api.headers import IDEMPOTENCY_KEY
from api.request_context import RequestContext
from api.rest.context import operation_of_request, request_id_of
from api.rest.contract.parameters import MAX_KEY_LENGTH
from domain.directory.roles import ADMIN, LAB_CONTROLLER, SUBMITTER
from domain.errors import Fault, FaultyInput, NotPermitted

_ENDING: Final = ("/cancel", "/return")
_ETAG: Final = re.compile(r'^"[0-9]{1,18}"$')


@dataclass(frozen=True)
class Principal:
    """The user and role of a token, and the lab controller of a lab controller's token."""

    user: str
    role: str
    lab_controller: str | None
    token_id: str

    @property
    def is_admin(self) -> bool:
        return self.role == ADMIN

    @property
    def counted_as(self) -> str:
        """Return the key for the rate: one for all tokens of a user, and one for all of a lab controller."""
        lab_controller = self.lab_controller
        return f"user/{self.user}" if lab_controller is None else f"lab-controller/{lab_controller}"

    def acting_as(self, lab_controller: str | None) -> Principal:
        """Return the principal of an admin who acts as a lab controller only. Raises NotPermitted."""
        if lab_controller in (None, self.lab_controller):
            return self
        if not self.is_admin:
            raise NotPermitted("only an admin may act as a lab controller")
        return replace(self, role=LAB_CONTROLLER, lab_controller=lab_controller)


def principal_of(req: Request) -> Principal:
    principal: Principal = req.context.principal
    return principal


def request_of(req: Request) -> RequestContext:
    """Return the context of a change without an Idempotency-Key."""
    principal = principal_of(req)
    return RequestContext(
        principal.user,
        request_id_of(req),
        is_admin=principal.is_admin,
        expected=_expected(req),
        role=principal.role,
        token_id=principal.token_id,
        has_quota=principal.role == SUBMITTER and not ends_something(req),
    )


def keyed_request(req: Request, body: bytes) -> RequestContext:
    """Return the context of a POST: the same Idempotency-Key of the same user gives the same command id."""
    request = request_of(req)
    key = req.get_header(IDEMPOTENCY_KEY)
    if key is None:
        return request
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, f"a key has 1 to {MAX_KEY_LENGTH} characters")])
    digest = hashlib.sha256(b"\0".join((req.method.encode(), req.path.encode(), body))).digest()
    owned = hashlib.sha256(f"{request.actor}\0{key}".encode()).hexdigest()
    return replace(request, command_id=f"key/{owned}", digest=digest)


def ends_something(req: Request) -> bool:
    """Return whether the request undoes an earlier one: quotas never refuse such a request."""
    return req.method == "DELETE" or (req.method == "POST" and req.path.endswith(_ENDING))


def _expected(req: Request) -> frozenset[int] | None:
    """Return the versions in If-Match, None without one. An unknown tag matches no version."""
    header = req.get_header("If-Match")
    if header is None or header.strip() == "*" or not operation_of_request(req).versioned:
        return None
    tags = (tag.strip() for tag in header.split(","))
    return frozenset(int(tag[1:-1]) for tag in tags if _ETAG.match(tag))
