"""Errors below `/ui/` as pages: the status, what is wrong, the id of the request, and what to do next.

A form that was sent without a valid login is shown again as text, so that what was written is not lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urlencode

import falcon
from falcon.asgi import Request, Response

from api.headers import EVENT_STREAM
from api.pages.forms import ForeignForm, read_form, shown_fields
from api.pages.page import show
from api.pages.security import secure
from api.rest.context import request_id_of
from api.rest.routes import ROUTES
from api.use_cases.ports import NameParts
from domain.errors import LabledgerError

_NEXT_STEPS: Final = {
    403: "Ask an admin, or log in with another role.",
    404: "Check the address. What is hidden from you does not exist for you.",
    422: "Correct the address.",
    429: "Wait a moment, and load the page again.",
    503: "The service is not ready; the page is loaded again by itself.",
    504: "The read models lag; load the page again.",
}
_RETRY_SECONDS: Final = 5
_LIVE: Final = "/ui/live"
# A browser tells the script of a page neither the status of a stream nor where it leads.
_LOGIN_EVENT: Final = "event: login\ndata: {}\n\n"
# Anybody may send a form without a login.
_MAX_SHOWN_BYTES: Final = 256 << 10


async def answer_page(
    req: Request, resp: Response, parts: NameParts, problem: Mapping[str, Any], error: Exception
) -> None:
    """Answer with a problem as a page; a read without a login leads to the login page and back."""
    status: int = problem["status"]
    if isinstance(error, ForeignForm):
        await _show_refused_form(req, resp, parts, status, error.sent)
        return
    if status == 401 and _has_form(req):
        await _show_refused_form(req, resp, parts, status, await _sent(req))
        return
    if status == 401 and req.path == _LIVE:
        secure(resp)
        resp.content_type, resp.text = EVENT_STREAM, _LOGIN_EVENT
        return
    if status == 401:
        secure(resp)
        resp.status = falcon.HTTP_303
        resp.location = _login_leading_to(req.relative_uri if req.method == "GET" else "/ui")
        return
    resp.status = status
    if status == 503:
        resp.set_header("Refresh", str(_RETRY_SECONDS))
    next_step = _NEXT_STEPS.get(status, "Load the page again, and tell an admin the number of the request.")
    values = {"problem": problem, "request_id": request_id_of(req), "next_step": next_step}
    await show(req, resp, parts, None, "error.html", values)


def _has_form(req: Request) -> bool:
    """Return whether the request sends a form that has a page of its own, at the same address."""
    return req.method == "POST" and "GET" in ROUTES[str(req.uri_template)].roles


async def _sent(req: Request) -> Mapping[str, str]:
    """Return what was written into the form of a request without a login; nothing of a form that is long."""
    if req.content_length is not None and req.content_length <= _MAX_SHOWN_BYTES:
        with suppress(falcon.HTTPError, LabledgerError):
            return shown_fields(req, await read_form(req))
    return {}


def _login_leading_to(address: str) -> str:
    return f"/ui/login?{urlencode({'next': address})}"


async def _show_refused_form(
    req: Request, resp: Response, parts: NameParts, status: int, sent: Mapping[str, str]
) -> None:
    """Answer a form of another login or of none: nothing was stored, what was sent, and how to send it."""
    resp.status = status
    form = quote(req.path) if _has_form(req) else "/ui"
    values = {
        "sent": sent,
        "login": _login_leading_to(form) if status == 401 else None,
        "form": form,
        "status": status,
        "request_id": request_id_of(req),
    }
    await show(req, resp, parts, None, "refused_form.html", values)
