"""Forms that were sent from another login or without one.

Nothing of them is stored. They are shown again as text, so that what was written is not lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import quote

import falcon
from falcon.asgi import Request, Response

from api.pages.forms import ForeignForm, read_form, shown_fields
from api.pages.page import show
from api.pages.sessions import HOME, login_leading_to
from api.rest.context import request_id_of
from api.rest.routes import ROUTES
from api.use_cases.ports import NameParts
from domain.errors import LabledgerError

# Anybody may send a form without a login.
_MAX_SHOWN_BYTES: Final = 256 << 10


def is_refused_form(req: Request, status: int, error: Exception) -> bool:
    """Return whether the request sent a form, and the error says that its login is another one or missing."""
    return isinstance(error, ForeignForm) or (status == 401 and _has_form(req))


async def show_refused_form(
    req: Request, resp: Response, parts: NameParts, status: int, error: Exception
) -> None:
    """Answer a refused form with its fields, and how to send them again."""
    resp.status = status
    form = quote(req.path) if _has_form(req) else HOME
    values = {
        "sent": error.sent if isinstance(error, ForeignForm) else await _sent(req),
        "login": login_leading_to(form) if status == 401 else None,
        "form": form,
        "status": status,
        "request_id": request_id_of(req),
    }
    await show(req, resp, parts, None, "refused_form.html", values)


def _has_form(req: Request) -> bool:
    """Return whether the request sends a form that has a page of its own, at the same address."""
    return req.method == "POST" and "GET" in ROUTES[str(req.uri_template)].roles


async def _sent(req: Request) -> Mapping[str, str]:
    """Return what was written into the form of a request without a login; nothing of a form that is long."""
    if req.content_length is not None and req.content_length <= _MAX_SHOWN_BYTES:
        with suppress(falcon.HTTPError, LabledgerError):
            return shown_fields(req, await read_form(req))
    return {}
