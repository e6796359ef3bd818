"""Errors below `/ui/` as pages: the status, what is wrong, the id of the request, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import falcon
from falcon.asgi import Request, Response

from api.headers import EVENT_STREAM
from api.pages.page import show
from api.pages.refused_forms import is_refused_form, show_refused_form
from api.pages.security import secure
from api.pages.sessions import HOME, login_leading_to
from api.rest.context import request_id_of
from api.use_cases.ports import NameParts
from domain.errors import Unknown

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


async def answer_page(
    req: Request, resp: Response, parts: NameParts, problem: Mapping[str, Any], error: Exception
) -> None:
    """Answer with a problem as a page; a read without a login leads to the login page and back."""
    status: int = problem["status"]
    if is_refused_form(req, status, error):
        await show_refused_form(req, resp, parts, status, error)
        return
    if status == 401 and req.path == _LIVE:
        secure(resp)
        resp.content_type, resp.text = EVENT_STREAM, _LOGIN_EVENT
        return
    if status == 401:
        secure(resp)
        resp.status = falcon.HTTP_303
        resp.location = login_leading_to(req.relative_uri if req.method == "GET" else HOME)
        return
    resp.status = status
    if status == 503:
        resp.set_header("Refresh", str(_RETRY_SECONDS))
    is_missing = isinstance(error, Unknown)
    next_step = _NEXT_STEPS.get(status, "Load the page again, and tell an admin the number of the request.")
    values = {
        "problem": problem,
        "request_id": request_id_of(req),
        "next_step": next_step,
        # What did not exist then may exist now. Actions are of the present.
        "missing_as_of": req.get_param("as_of") if is_missing and "/actions/" not in req.path else None,
    }
    await show(req, resp, parts, None, "error.html", values)
