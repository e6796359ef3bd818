"""/login/device: logins of the command line at the identity provider, by the device flow (RFC 8628)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from falcon.asgi import Request, Response

from api.oidc.identity import Identity
from api.rest import paging
from api.rest.body import read_model
from api.rest.context import client_address, kept_address, request_id_of
from api.rest.contract.answers import access as answers
from api.rest.contract.inputs.access import DeviceLogin
from api.rest.contract.operation import MAX_LOGIN_BYTES, operation
from api.rest.ports import SessionParts, sign_in_options
from api.use_cases.log_in import require_role_of_people
from api.use_cases.sign_in import require_role_by_device, sign_in

REFUSALS: Final = (401, 403, 404, 409, 429, 503)


class DeviceLogins:
    """The service asks the provider on behalf of the command, which need not know the provider."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    @operation("Begin a login at the identity provider", answers.DeviceLoginBegun, refuses=REFUSALS)
    async def on_post(self, req: Request, resp: Response) -> None:
        options = sign_in_options(self._parts)
        options.require_pace(client_address(req))
        code = await options.provider.device_code()
        paging.answer(resp, self._parts.feed.position, asdict(code))

    @operation(
        "Ask whether a login at the identity provider is done, and for its token",
        answers.DeviceLoginState,
        body=DeviceLogin,
        max_bytes=MAX_LOGIN_BYTES,
        refuses=REFUSALS,
    )
    async def on_post_token(self, req: Request, resp: Response) -> None:
        options = sign_in_options(self._parts)
        options.require_pace(client_address(req))
        asked: DeviceLogin = await read_model(req)
        # First, because the provider gives its answer once.
        require_role_of_people(asked.role)
        require_role_by_device(options, asked.role)
        found = await options.provider.polled(asked.device_code)
        if not isinstance(found, Identity):
            state = "slow_down" if found.is_too_fast else "pending"
            paging.answer(resp, self._parts.feed.position, {"state": state, "login": None})
            return
        address = kept_address(req)
        done = await sign_in(
            self._parts, options, request_id_of(req), found, asked.role, address, by_device=True
        )
        fields = ("user", "role", "token", "token_id", "expires_at")
        login = {name: getattr(done, name) for name in fields}
        paging.answer(resp, done.position, {"state": "done", "login": login})
