"""/login, /whoami and passwords"""

from __future__ import annotations

from dataclasses import asdict

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import client_address, kept_address, principal_of, request_id_of
from api.rest.contract.answers import access as answers
from api.rest.contract.inputs.access import Login
from api.rest.contract.operation import MAX_LOGIN_BYTES, operation
from api.rest.ports import SessionParts
from api.use_cases.log_in import log_in


class Sessions:
    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    @operation(
        "Exchange a password for a token that expires",
        answers.LoggedIn,
        body=Login,
        max_bytes=MAX_LOGIN_BYTES,
        refuses=(401, 403, 429),
    )
    async def on_post_login(self, req: Request, resp: Response) -> None:
        address = client_address(req)
        self._parts.faulty_logins.begin(address)
        login: Login = await read_model(req)
        self._parts.faulty_logins.confirm_valid(address)
        done = await log_in(
            self._parts,
            request_id_of(req),
            login.user,
            login.password,
            login.role,
            address,
            kept_address(req),
        )
        fields = ("role", "token", "token_id", "expires_at")
        body = {"user": login.user, **{name: getattr(done, name) for name in fields}}
        paging.answer(resp, done.position, body)

    @operation("Show the user and role of the token", answers.Whoami)
    async def on_get_whoami(self, req: Request, resp: Response) -> None:
        shown = {name: value for name, value in asdict(principal_of(req)).items() if name != "is_acting"}
        paging.answer(resp, self._parts.feed.position, shown)
