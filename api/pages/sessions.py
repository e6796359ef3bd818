"""Login and logout of browsers, by the use cases of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import falcon
from falcon.asgi import Request, Response

from api.pages.forms import FORM, read_form, require_own_form
from api.pages.page import show
from api.pages.security import HTML, secure
from api.rest.context import client_address, kept_address, principal_of, request_id_of, request_of
from api.rest.contract.operation import MAX_LOGIN_BYTES, operation
from api.rest.contract.queries import Query
from api.rest.ports import SessionParts
from api.rest.session_cookie import begin_login, end_session, store_session
from api.use_cases.log_in import log_in
from api.use_cases.tokens import revoke_token
from domain.directory.roles import LAB_CONTROLLER, ROLES
from domain.errors import LabledgerError

HOME: Final = "/ui"
SIGN_IN_PATH: Final = "/ui/login/sso"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")


class LoginQuery(Query):
    next: str = HOME


class PageSessions:
    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    @operation("Show the login page", None, LoginQuery, gives=(HTML,))
    async def on_get_login(self, req: Request, resp: Response) -> None:
        await show_login(req, resp, self._parts, {"next": req.get_param("next") or HOME})

    @operation("Log in", takes=(FORM,), gives=(HTML,), max_bytes=MAX_LOGIN_BYTES)
    async def on_post_login(self, req: Request, resp: Response) -> None:
        address = client_address(req)
        self._parts.faulty_logins.begin(address)
        form = await read_form(req)
        require_own_form(req, form, is_login=True)
        self._parts.faulty_logins.confirm_valid(address)
        user, password, role = (form.get(name, "") for name in ("user", "password", "role"))
        try:
            done = await log_in(
                self._parts, request_id_of(req), user, password, role or None, address, kept_address(req)
            )
        except LabledgerError as error:
            resp.status = falcon.HTTP_401
            await show_login(req, resp, self._parts, {**form, "refusal": str(error)})
            return
        store_session(resp, done.token, done.expires_at)
        see(resp, local(form.get("next")))

    @operation("Log out", takes=(FORM,), gives=(HTML,))
    async def on_post_logout(self, req: Request, resp: Response) -> None:
        require_own_form(req, await read_form(req))
        await revoke_token(self._parts, request_of(req), principal_of(req).token_id)
        end_session(resp)
        see(resp, "/ui/login")


async def show_login(req: Request, resp: Response, parts: SessionParts, form: Mapping[str, Any]) -> None:
    """Answer with the login page, and with the fields of a refused `form` and its `refusal`."""
    next_path = local(form.get("next"))
    values = {
        "login_value": begin_login(req, resp),
        "roles": [role for role in ROLES if role != LAB_CONTROLLER],
        "drops_cookie": req.forwarded_scheme != "https" and req.host not in _LOOPBACK,
        "provider": None if parts.sign_in is None else parts.sign_in.name,
        "sign_in": f"{SIGN_IN_PATH}?{urlencode({'next': next_path})}",
        "refusal": form.get("refusal", ""),
        "user": form.get("user", ""),
        "role": form.get("role", ""),
        "next": next_path,
    }
    await show(req, resp, parts, None, "login.html", values)


def local(path: str | None) -> str:
    """Return a path below `/ui`, that of the home page for any other."""
    is_local = path is not None and (path == HOME or path.startswith(f"{HOME}/"))
    return path if path is not None and is_local and path.isprintable() and "\\" not in path else HOME


def login_leading_to(address: str) -> str:
    """Return the address of the login page that leads to another page after the login."""
    return f"/ui/login?{urlencode({'next': address})}"


def see(resp: Response, path: str) -> None:
    """Answer a form with another page."""
    secure(resp)
    resp.status, resp.location = falcon.HTTP_303, path
