"""Authentication and authorisation of every request."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

import falcon
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.feed import NotReady
from api.headers import ACTS_AS, EVENT_STREAM, LAST_EVENT_ID
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.rest.context import client_address, operation_of_request, request_id_of, route_of
from api.rest.contract.operation import Operation
from api.rest.middleware.address import address_of
from api.rest.middleware.principal import Principal
from api.rest.middleware.rates import Rates
from api.rest.ports import GateParts
from api.rest.query import read_query
from api.rest.routes import ROUTES, Route
from api.use_cases.tokens import digest_of
from domain.directory.roles import AUDITOR, LAB_CONTROLLER
from domain.errors import Fault, NotPermitted, Unreadable
from postgres.errors import DatabaseAway
from runtime.setting_values import Network
from store.reads import AuditedRead, record

_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{1,64}$")
# The maximum time for which this process accepts a token that another one has revoked.
MAX_UNREAD_SECONDS = 30.0


class Gate:
    """Falcon middleware that admits or refuses requests."""

    def __init__(
        self,
        parts: GateParts,
        operations: Mapping[tuple[str, str], Operation],
        rates: Rates,
        proxies: Collection[Network] = (),
    ) -> None:
        self._parts = parts
        self._operations = operations
        self._rates = rates
        self._proxies = proxies

    async def process_request(self, req: Request, resp: Response) -> None:
        asked = req.get_header("X-Request-Id") or ""
        req.context.request_id = asked if _REQUEST_ID.match(asked) else uuid.uuid4().hex
        resp.set_header("X-Request-Id", request_id_of(req))
        req.context.address = address_of(req, self._proxies)
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
        if allowed := route.roles[req.method]:
            await self._admit(req, route, allowed, params)
        req.context.query = read_query(req, operation.query)

    async def _admit(
        self, req: Request, route: Route, allowed: tuple[str, ...], params: dict[str, Any]
    ) -> None:
        """Raise HTTPUnauthorized without a valid token, NotPermitted without the required role."""
        bearer = await self._principal(req)
        # A refused request counts as a contact too.
        await self._heard(bearer)
        self._rates.take(bearer.counted_as)
        share_of(req).enter(bearer.counted_as)
        principal = bearer.acting_as(req.get_header(ACTS_AS))
        await self._heard(principal)
        if principal.role not in allowed:
            raise NotPermitted(f"{req.method} {route_of(req)} requires the role {' or '.join(allowed)}")
        foreign = route.own_lab and params["name"] != principal.lab_controller
        if foreign and principal.role == LAB_CONTROLLER:
            raise NotPermitted(f"this token is for the lab of {principal.lab_controller}")
        req.context.principal = principal
        if principal.role == AUDITOR:
            await self._record(req, principal)

    async def _record(self, req: Request, principal: Principal) -> None:
        """Record an auditor's read before it is answered; if that fails, the read fails."""
        gives = operation_of_request(req).gives
        is_stream = EVENT_STREAM in gives and req.client_prefers(gives) == EVENT_STREAM
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

    async def _heard(self, principal: Principal) -> None:
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

    async def _principal(self, req: Request) -> Principal:
        scheme, _, token = (req.auth or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise falcon.HTTPUnauthorized(
                description="send 'Authorization: Bearer ll_…'", challenges=("Bearer",)
            )
        digest = digest_of(token.strip())
        directory = self._parts.feed.directory
        found = directory.token(digest, self._parts.clock())
        if found is None:
            self._rates.take_stranger(client_address(req))
            # Another process may have created the token just now.
            await self._parts.feed.catch_up()
            found = directory.token(digest, self._parts.clock())
        if found is None:
            raise falcon.HTTPUnauthorized(
                description="unknown token", challenges=('Bearer error="invalid_token"',)
            )
        if not self._parts.feed.is_current(MAX_UNREAD_SECONDS):
            raise NotReady("the service cannot read the log to check whether the token was revoked")
        token_id, document = found
        return Principal(document["user"], document["role"], document["lab_controller"], token_id)
