"""Sign-in of browsers at the identity provider: the redirect and the callback."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from falcon.asgi import Request, Response

from api.oidc.browser_secrets import BrowserSecrets
from api.oidc.errors import SignInFailed, refusal
from api.oidc.identity import Identity
from api.oidc.sign_in import SignIn
from api.pages.security import HTML
from api.pages.sessions import SIGN_IN_PATH, LoginQuery, local, see, show_login
from api.rest.context import client_address, kept_address, query_of, request_id_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import ForeignQuery
from api.rest.ports import SessionParts, sign_in_options
from api.rest.problems import status_of
from api.rest.session_cookie import (
    begin_sign_in,
    begun_sign_in,
    end_sign_in,
    is_from_other_site,
    store_session,
)
from api.use_cases.sign_in import sign_in
from domain.errors import LabledgerError


class SignInQuery(LoginQuery):
    """`is_redirected`: the browser was redirected here from another address of the service."""

    is_redirected: bool = False


class CallbackQuery(ForeignQuery):
    """The answer of the provider: a code, or an error."""

    state: str | None = None
    code: str | None = None
    iss: str | None = None
    error: str | None = None
    error_description: str | None = None


class PageSignIns:
    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts

    @operation("Go to the identity provider", None, SignInQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        """Redirect the browser to the provider.

        First redirect it to `LABLEDGER_WEB_URL` if it came by another address, because the callback needs the
        cookie of that address; only once, because a proxy may send another Host.
        """
        options, query = sign_in_options(self._parts), query_of(req, SignInQuery)
        next_path = local(query.next)
        if not query.is_redirected and req.forwarded_host != urlsplit(options.web_url).netloc:
            query_string = urlencode({"next": next_path, "is_redirected": "true"})
            see(resp, f"{options.web_url}{SIGN_IN_PATH}?{query_string}")
            return
        if is_from_other_site(req):
            # No other site can make a browser the user of its choice: a person has to follow the link.
            await show_login(req, resp, self._parts, {"next": next_path})
            return
        try:
            options.require_pace(client_address(req))
            secret = begin_sign_in(resp, next_path)
            see(resp, await options.provider.authorization_url(BrowserSecrets.derived(secret)))
        except LabledgerError as error:
            await self._refuse(req, resp, error, next_path)

    @operation("Come back from the identity provider", None, CallbackQuery, gives=(HTML,))
    async def on_get_callback(self, req: Request, resp: Response) -> None:
        options, begun = sign_in_options(self._parts), begun_sign_in(req)
        secret, next_path = begun or (None, "")
        try:
            options.require_pace(client_address(req))
            identity = await self._identity(options, secret, query_of(req, CallbackQuery))
            # Each answer counts once.
            end_sign_in(resp)
            done = await sign_in(
                self._parts, options, request_id_of(req), identity, kept_address=kept_address(req)
            )
        except LabledgerError as error:
            await self._refuse(req, resp, error, next_path)
            return
        store_session(resp, done.token, done.expires_at)
        see(resp, local(next_path))

    async def _identity(self, options: SignIn, secret: str | None, query: CallbackQuery) -> Identity:
        """Return the person that the provider has authenticated for this browser. Raises SignInFailed."""
        secrets = None if secret is None else BrowserSecrets.derived(secret)
        # First, so that no other site can show a message here.
        if secrets is None or not secrets.has_state(query.state):
            raise SignInFailed("this sign-in was not begun in this browser, or too long ago; begin again")
        await options.provider.require_issuer(query.iss)
        if query.error is not None or query.code is None:
            raise refusal(query.error or "no code", query.error_description)
        return await options.provider.redeemed(query.code, secrets)

    async def _refuse(self, req: Request, resp: Response, error: LabledgerError, next_path: str) -> None:
        resp.status = str(status_of(error))
        await show_login(req, resp, self._parts, {"next": next_path, "refusal": str(error)})
