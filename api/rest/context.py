"""The values that the gate stores in the context of a request: id, address, operation, query, principal."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from falcon.asgi import Request

from api.headers import IDEMPOTENCY_KEY, LENIENT, PREFER
from api.rest.contract.openapi import plain
from api.rest.contract.operation import Operation
from api.rest.contract.parameters import MAX_KEY_LENGTH
from api.rest.contract.queries import Query
from api.use_cases.ports import RequestContext
from domain.directory.roles import ADMIN, LAB_CONTROLLER, SUBMITTER
from domain.errors import Fault, FaultyInput, NotPermitted

Q = TypeVar("Q", bound=Query)


def route_of(req: Request) -> str | None:
    """Return the declared path, such as `/jobs/{job_id}`, or None if there is no such resource."""
    return None if req.uri_template is None else plain(str(req.uri_template))


def request_id_of(req: Request) -> str:
    request_id: str = req.context.request_id
    return request_id


def client_address(req: Request) -> str:
    """Return the client's address as `middleware.address` computes it."""
    address: str = req.context.address
    return address


def kept_address(req: Request) -> str | None:
    """Return the whole address of the client, None unless the service keeps addresses."""
    address: str | None = req.context.kept_address
    return address


def operation_of_request(req: Request) -> Operation:
    operation: Operation = req.context.operation
    return operation


def action_of_request(req: Request) -> str | None:
    """Return the action, such as `cancel a job`; None if the gate has not set the operation."""
    operation: Operation | None = getattr(req.context, "operation", None)
    return None if operation is None else operation.action


def query_of(req: Request, model: type[Q]) -> Q:
    query = req.context.query
    assert isinstance(query, model), "the operation declares this query"
    return query


_UNDOING_PATHS: Final = ("/cancel", "/return")
_ETAG: Final = re.compile(r'^"[0-9]{1,18}"$')


@dataclass(frozen=True)
class Principal:
    """The user and role of a token, and its lab controller if it is the token of one."""

    user: str
    role: str
    lab_controller: str | None
    token_id: str
    # Whether it is an admin who acts as the lab controller.
    is_acting: bool = False

    @property
    def is_admin(self) -> bool:
        return self.role == ADMIN

    @property
    def limit_key(self) -> str:
        """Return the key of limits, the same for all tokens of a user or of a lab controller."""
        lab_controller = self.lab_controller
        return f"user/{self.user}" if lab_controller is None else f"lab-controller/{lab_controller}"

    def acting_as(self, lab_controller: str | None) -> Principal:
        """Return the principal as this lab controller. Raises NotPermitted unless an admin asks."""
        if lab_controller in (None, self.lab_controller):
            return self
        if not self.is_admin:
            raise NotPermitted("only an admin may act as a lab controller")
        return replace(self, role=LAB_CONTROLLER, lab_controller=lab_controller, is_acting=True)


def principal_of(req: Request) -> Principal:
    principal: Principal = req.context.principal
    return principal


def request_of(req: Request) -> RequestContext:
    """Return the context of a write request, ignoring an Idempotency-Key."""
    principal = principal_of(req)
    return RequestContext(
        principal.user,
        request_id_of(req),
        is_admin=principal.is_admin,
        expected=_expected(req),
        role=principal.role,
        token_id=principal.token_id,
        has_quota=principal.role == SUBMITTER and not is_undoing(req),
        caller=principal.limit_key,
        address=kept_address(req),
    )


def keyed_request(req: Request, body: bytes) -> RequestContext:
    """Return the context of a POST, whose command id follows from its Idempotency-Key and user."""
    request = request_of(req)
    key = req.get_header(IDEMPOTENCY_KEY)
    if key is None:
        return request
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise FaultyInput([Fault(IDEMPOTENCY_KEY, f"a key has 1 to {MAX_KEY_LENGTH} characters")])
    given = [req.method.encode(), req.path.encode(), body]
    # Without a reason, the digest is that of requests before requests without a body had any.
    if reason := req.get_param("reason"):
        given.append(reason.encode())
    digest = hashlib.sha256(b"\0".join(given)).digest()
    key_of_user = hashlib.sha256(f"{request.actor}\0{key}".encode()).hexdigest()
    return replace(request, command_id=f"key/{key_of_user}", digest=digest)


def prefers_lenient(req: Request) -> bool:
    """Return whether the client prefers lenient handling."""
    given = (each.partition(";")[0].strip().lower() for each in (req.get_header(PREFER) or "").split(","))
    return LENIENT in given


def is_undoing(req: Request) -> bool:
    """Return whether the request ends or removes something, which no quota may refuse."""
    return req.method == "DELETE" or (req.method == "POST" and req.path.endswith(_UNDOING_PATHS))


def _expected(req: Request) -> frozenset[int] | None:
    """Return the versions in If-Match, None if any version is accepted. Other tags match no version."""
    header = req.get_header("If-Match")
    if header is None or header.strip() == "*" or not operation_of_request(req).versioned:
        return None
    tags = (tag.strip() for tag in header.split(","))
    return frozenset(int(tag[1:-1]) for tag in tags if _ETAG.match(tag))
