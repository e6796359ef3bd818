"""Login and logout of browsers, by the use cases of the API."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs

import falcon
from falcon.asgi import Request, Response

from api.pages.page import show
from api.pages.security import HTML, secure
from api.rest.body import media_type, read_body
from api.rest.context import client_address, principal_of, request_id_of, request_of
from api.rest.contract.operation import MAX_LOGIN_BYTES, operation
from api.rest.contract.queries import Query
from api.rest.ports import SessionParts
from api.rest.session_cookie import (
    FORM_FIELD,
    begin_login,
    end_session,
    is_from_form,
    is_same_origin,
    store_session,
)
from api.use_cases.log_in import log_in
from api.use_cases.tokens import revoke_token
from domain.directory.roles import LAB_CONTROLLER, ROLES
from domain.errors import FaultyInput, LabledgerError, NotPermitted

FORM: Final = "application/x-www-form-urlencoded"
HOME: Final = "/ui"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")


class LoginQuery(Query):
    next: str = HOME


class PageSessions:
    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    @operation("Show the login page", None, LoginQuery, gives=(HTML,))
    async def on_get_login(self, req: Request, resp: Response) -> None:
        await self._show_login(req, resp, {"next": req.get_param("next") or HOME})

    @operation("Log in", takes=(FORM,), gives=(HTML,), max_bytes=MAX_LOGIN_BYTES)
    async def on_post_login(self, req: Request, resp: Response) -> None:
        address = client_address(req)
        self._parts.faulty_logins.begin(address)
        form = await read_form(req)
        require_own_form(req, form, is_login=True)
        self._parts.faulty_logins.confirm_valid(address)
        user, password, role = (form.get(name, "") for name in ("user", "password", "role"))
        try:
            done = await log_in(self._parts, request_id_of(req), user, password, role or None, address)
        except LabledgerError as error:
            resp.status = falcon.HTTP_401
            await self._show_login(req, resp, {**form, "refusal": str(error)})
            return
        store_session(resp, done.token, done.expires_at)
        _see(resp, local(form.get("next")))

    @operation("Log out", takes=(FORM,), gives=(HTML,))
    async def on_post_logout(self, req: Request, resp: Response) -> None:
        require_own_form(req, await read_form(req))
        await revoke_token(self._parts, request_of(req), principal_of(req).token_id)
        end_session(resp)
        _see(resp, "/ui/login")

    async def _show_login(self, req: Request, resp: Response, form: dict[str, Any]) -> None:
        values = {
            "login_value": begin_login(req, resp),
            "roles": [role for role in ROLES if role != LAB_CONTROLLER],
            "drops_cookie": req.forwarded_scheme != "https" and req.host not in _LOOPBACK,
            "refusal": form.get("refusal", ""),
            "user": form.get("user", ""),
            "role": form.get("role", ""),
            "next": local(form.get("next")),
        }
        await show(req, resp, self._parts, None, "login.html", values)


async def read_form(req: Request) -> dict[str, str]:
    """Return the fields of a form. Raises 413, 415, and FaultyInput for what is no form."""
    if media_type(req) != FORM:
        raise falcon.HTTPUnsupportedMediaType(description=f"the body must be {FORM}")
    try:
        fields = parse_qs((await read_body(req)).decode(), keep_blank_values=True, max_num_fields=1_000)
    except ValueError as error:
        raise FaultyInput([]) from error
    return {name: values[-1] for name, values in fields.items()}


def require_own_form(req: Request, form: dict[str, str], *, is_login: bool = False) -> None:
    """Raise NotPermitted unless the form is from a page of this service, for this login."""
    if not is_same_origin(req) or not is_from_form(req, form.get(FORM_FIELD), is_login=is_login):
        raise NotPermitted("this form is not from a page of this service and this login; load the page again")


def local(path: str | None) -> str:
    """Return a path below `/ui`, that of the home page for any other."""
    is_local = path is not None and (path == HOME or path.startswith(f"{HOME}/"))
    return path if path is not None and is_local and path.isprintable() and "\\" not in path else HOME


def _see(resp: Response, path: str) -> None:
    secure(resp)
    resp.status, resp.location = falcon.HTTP_303, path
