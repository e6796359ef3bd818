"""Errors as application/problem+json (RFC 9457), with all faults of the input."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import falcon
import orjson
from falcon.asgi import Request, Response

from api.concurrency_limits import Overloaded
from api.feed import NotReady
from api.headers import PROBLEM
from api.ldap.errors import LdapFault
from api.oidc.errors import ProviderAway, SignInFailed
from api.rest.context import action_of_request, request_id_of
from domain.errors import (
    Fault,
    FaultyInput,
    LabledgerError,
    NotPermitted,
    NotRecognised,
    Refused,
    Stale,
    TooLarge,
    TooOften,
    Unknown,
    Unreadable,
)
from postgres.errors import DatabaseAway
from projections.reader import NotYetBuilt, NotYetFolded
from runtime.processes.child import ChildFailed
from store.requests import Conflict
from workers.explaining.explainer import StillReading

RETRY_SECONDS = 2

STATUS: tuple[tuple[type[BaseException], int], ...] = (
    (TooLarge, 413),
    (Unreadable, 400),
    (FaultyInput, 422),
    (NotRecognised, 401),
    (SignInFailed, 401),
    (NotPermitted, 403),
    (Unknown, 404),
    (Refused, 409),
    (Conflict, 409),
    (Stale, 412),
    (TooOften, 429),
    (LdapFault, 502),
    (NotYetFolded, 504),
    (NotReady, 503),
    (ProviderAway, 503),
    (Overloaded, 503),
    (NotYetBuilt, 503),
    (ChildFailed, 503),
    (StillReading, 503),
    (DatabaseAway, 503),
)


def status_of(error: BaseException) -> int:
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def problem(
    status: int, detail: str, title: str | None = None, faults: Iterable[Fault] = ()
) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": title or phrase,
        "status": status,
        "detail": detail,
    }
    if errors := [{"where": fault.where, "message": fault.message} for fault in faults]:
        body["errors"] = errors
    return body


def problem_of(error: LabledgerError, action: str | None = None) -> dict[str, Any]:
    """Return the body for an error. `action` is the refused action, such as `cancel a job`, for the title."""
    faults = error.faults if isinstance(error, FaultyInput) else ()
    count = "1 error" if len(faults) == 1 else f"{len(faults)} errors"
    detail = count if faults else error.detail if isinstance(error, Unknown) else str(error)
    is_conflict = action is not None and isinstance(error, (Refused, Conflict))
    title = f"Cannot {action}" if is_conflict else error.title
    return problem(status_of(error), detail, title, faults)


def retry_seconds_of(error: LabledgerError) -> int | None:
    """Return the seconds after which a request may be repeated, None for an error that is not temporary."""
    if isinstance(error, TooOften):
        return error.retry_after_seconds
    return RETRY_SECONDS if status_of(error) in (503, 504) else None


def answer(resp: Response, body: dict[str, Any]) -> None:
    resp.status = body["status"]
    resp.content_type = PROBLEM
    resp.data = orjson.dumps(body)
    resp.text = None
    resp.media = None
    if body["status"] == 503:
        resp.set_header("Retry-After", str(RETRY_SECONDS))


def described(req: Request, error: Exception) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the problem of an error, and the headers of its answer. Log an unexpected error."""
    if isinstance(error, LabledgerError):
        retry = {"Retry-After": str(error.retry_after_seconds)} if isinstance(error, TooOften) else {}
        return problem_of(error, action_of_request(req)), retry
    if isinstance(error, falcon.HTTPError):
        status = error.status_code
        detail = error.description or _HTTP_ERROR_DETAILS.get(status, error.title or "")
        return problem(status, detail), dict(error.headers or {})
    logging.getLogger(__name__).error("request %s failed", request_id_of(req), exc_info=error)
    return problem(500, f"request {request_id_of(req)} failed; see the log of the server"), {}


_HTTP_ERROR_DETAILS = {
    404: "there is no resource at this path",
    405: "this resource does not support the method",
}
