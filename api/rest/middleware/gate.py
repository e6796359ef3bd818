"""Authentication, authorisation and rate limits of every request."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import falcon
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.feed import NotReady
from api.headers import ACTS_AS, EVENT_STREAM, LAST_EVENT_ID
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.moving_window import MovingWindow
from api.rest.context import Principal, client_address, operation_of_request, request_id_of, route_of
from api.rest.contract.operation import Operation
from api.rest.inside import principal_inside
from api.rest.middleware.address import address_of, whole_address_of
from api.rest.ports import GateParts
from api.rest.query import read_query
from api.rest.routes import ROUTES, Route
from api.rest.session_cookie import session_token
from api.shared_numbers import UNSHARED, ReportedNumbers
from api.use_cases.tokens import digest_of
from domain.directory.roles import AUDITOR, LAB_CONTROLLER
from domain.errors import Fault, NotPermitted, TooOften, Unreadable
from postgres.errors import DatabaseAway
from runtime.setting_values import Network
from store.reads import AuditedRead, record
from store.requests import random_digits

_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{1,64}$")
# While the log cannot be read, tokens are accepted for this time, although another process may revoke them.
MAX_UNREAD_SECONDS = 30.0
# The methods of admins that only read.
READS: Final = ("GET", "HEAD")
# For unknown tokens from one address, because each makes the feed read up to the end of the log.
UNKNOWN_TOKENS_PER_SECOND: Final = 20


class Gate:
    """Falcon middleware that admits or refuses requests."""

    def __init__(
        self,
        parts: GateParts,
        operations: Mapping[tuple[str, str], Operation],
        rates: Rates,
        proxies: Collection[Network] = (),
        *,
        records_admins: bool = False,
    ) -> None:
        """Create the gate. With `records_admins` it records reads of admins as it does those of auditors."""
        self._parts = parts
        self._operations = operations
        self._rates = rates
        self._proxies = proxies
        self._records_admins = records_admins

    async def process_request(self, req: Request, resp: Response) -> None:
        given = req.get_header("X-Request-Id") or ""
        req.context.request_id = given if _REQUEST_ID.match(given) else random_digits(32)
        resp.set_header("X-Request-Id", request_id_of(req))
        req.context.address = address_of(req, self._proxies)
        is_kept = self._parts.address_days > 0
        req.context.kept_address = whole_address_of(req, self._proxies) or None if is_kept else None
        if "\0" in req.path or "%00" in req.query_string:
            raise Unreadable([Fault("path or query", "contains a NUL")])

    async def process_resource(
        self, req: Request, resp: Response, resource: Any, params: dict[str, Any]
    ) -> None:
        if req.method == "OPTIONS":
            return
        template = str(req.uri_template)
        route = ROUTES[template]
        operation = self._operations.get((template, req.method))
        if operation is None:
            raise falcon.HTTPMethodNotAllowed([*route.roles, "OPTIONS"])
        req.context.operation = operation
        if (inside := principal_inside(req.scope)) is not None:
            # A live page is rendered again for readers who have passed the gate when they opened it.
            self._require_role(req, inside, route.roles[req.method])
            if EVENT_STREAM in operation.gives:
                # A stream has no end, so it is no page that can be rendered.
                raise falcon.HTTPNotFound
            req.context.principal = inside
        elif allowed := route.roles[req.method]:
            await self._admit(req, route, allowed, params)
        req.context.query = read_query(req, operation.query, ignores_empty=route.is_page)

    async def _admit(
        self, req: Request, route: Route, allowed: tuple[str, ...], params: dict[str, Any]
    ) -> None:
        """Set the principal of the request, and record its contact or audited read.

        Raises HTTPUnauthorized without a valid token, TooOften at a limit, NotPermitted without the role."""
        bearer = await self._principal(req, session_token(req) if route.is_page else _bearer_token(req))
        # Before the limits, because a refused request is a contact, too.
        await self._record_contact(bearer)
        self._rates.take(bearer.limit_key)
        share_of(req).enter(bearer.limit_key)
        principal = bearer.acting_as(req.get_header(ACTS_AS))
        await self._record_contact(principal)
        # Before the checks, because the page about a refusal has the navigation of the reader.
        req.context.principal = principal
        self._require_role(req, principal, allowed)
        is_other_lab = route.own_lab and params["name"] != principal.lab_controller
        if is_other_lab and principal.role == LAB_CONTROLLER:
            raise NotPermitted(f"this token is for the lab of {principal.lab_controller}")
        if principal.role == AUDITOR:
            await self._record_read(req, principal)
        elif self._records_admins and bearer.is_admin and _is_read(req):
            # Also of one who acts as a lab controller.
            await self._record_read(req, bearer)

    def _require_role(self, req: Request, principal: Principal, allowed: tuple[str, ...]) -> None:
        if principal.role not in allowed:
            raise NotPermitted(f"{req.method} {route_of(req)} requires the role {' or '.join(allowed)}")

    async def _record_read(self, req: Request, principal: Principal) -> None:
        """Record a read before it is answered. If recording fails, the request fails."""
        media_types = operation_of_request(req).gives
        is_stream = EVENT_STREAM in media_types and req.client_prefers(media_types) == EVENT_STREAM
        last_event_id = req.get_header(LAST_EVENT_ID) if is_stream else None
        read = AuditedRead(
            principal.user,
            principal.role,
            principal.token_id,
            req.method,
            req.path,
            req.query_string,
            request_id_of(req),
            is_stream,
            last_event_id and last_event_id[:MAX_MESSAGE_LENGTH],
        )
        await asyncio.to_thread(record, self._parts.log, read)

    async def _record_contact(self, principal: Principal) -> None:
        """Record a contact of a lab controller, or of an admin who acts as one."""
        lab_controller = principal.lab_controller
        if lab_controller is None:
            return
        contacts, now = self._parts.contacts, time.monotonic()
        is_registered = self._parts.feed.directory.get("lab-controller", lab_controller) is not None
        if is_registered and contacts.must_store(lab_controller, now):
            # A failure to record the contact must not fail the request.
            with suppress(DatabaseAway):
                await asyncio.to_thread(contacts.store, lab_controller)

    async def _principal(self, req: Request, token: str | None) -> Principal:
        if not token:
            raise falcon.HTTPUnauthorized(
                description="send 'Authorization: Bearer ll_…'", challenges=("Bearer",)
            )
        digest = digest_of(token)
        directory = self._parts.feed.directory
        entry = directory.token(digest, self._parts.clock())
        if entry is None:
            self._rates.take_unknown_token(client_address(req))
            # Another process may have created the token just now.
            await self._parts.feed.catch_up()
            entry = directory.token(digest, self._parts.clock())
        if entry is None:
            raise falcon.HTTPUnauthorized(
                description="unknown token", challenges=('Bearer error="invalid_token"',)
            )
        if not self._parts.feed.is_current(MAX_UNREAD_SECONDS):
            raise NotReady("the service cannot read the log to check whether the token was revoked")
        token_id, document = entry
        return Principal(document["user"], document["role"], document["lab_controller"], token_id)


def _bearer_token(req: Request) -> str | None:
    scheme, _, token = (req.auth or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


class Rates:
    """`per_second` is the limit of each user and each lab controller; 0 means no limit."""

    def __init__(self, per_second: int, shared: ReportedNumbers = UNSHARED) -> None:
        window = partial(MovingWindow, seconds=1.0, shared=shared)
        self._callers = window(per_second, name="requests-a-second/") if per_second else None
        self._unknown_tokens = window(UNKNOWN_TOKENS_PER_SECOND, name="unknown-tokens/")

    def take(self, caller: str) -> None:
        """Count a request of a caller, by `Principal.limit_key`. Raises TooOften above the limit."""
        if self._callers is not None:
            _take(self._callers, caller)

    def take_unknown_token(self, address: str) -> None:
        """Count a request with an unknown token, by its address. Raises TooOften above the limit."""
        _take(self._unknown_tokens, address)


def _take(window: MovingWindow, key: str) -> None:
    if window.take(key):
        raise TooOften(f"{window.amount} requests a second are allowed", 1)


def _is_read(req: Request) -> bool:
    """Return whether a request changes nothing: also a POST that only asks, and a dry run."""
    is_dry_run = req.params.get("dry_run", "false") != "false"
    return req.method in READS or operation_of_request(req).is_read or is_dry_run
