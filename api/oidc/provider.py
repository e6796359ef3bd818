"""An identity provider: the requests and answers of the code flow with PKCE and of the device flow."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit, urlunsplit

from joserfc.jwk import KeySet

from api.clock import Clock
from api.oidc.browser_secrets import BrowserSecrets
from api.oidc.errors import ProviderAway, SignInFailed, does_not_answer, refusal
from api.oidc.fetched_value import FetchedValue
from api.oidc.id_token import UnknownKey, claims_of, key_set_of
from api.oidc.identity import Identity, identity_of, needed_claims, with_further
from api.oidc.metadata import Metadata, discovered
from api.oidc.pkce import challenge, new_verifier
from api.oidc.transport import ProviderAnswer, ProviderTransport

DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
# RFC 8628: without an interval of the provider.
DEFAULT_INTERVAL_SECONDS: Final = 5
PENDING: Final = ("authorization_pending", "slow_down")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProviderOptions:
    """The client as it is registered at the provider; a public one has no secret.

    `groups_claim` is None if the service does not use the groups of the provider.
    """

    issuer: str
    client_id: str
    client_secret: str | None
    redirect_uri: str
    scopes: tuple[str, ...]
    user_claim: str
    groups_claim: str | None


@dataclass(frozen=True)
class DeviceCode:
    """A begun device flow: the code for the user, the address to type it at, and the code of the command.

    The latter has the verifier of PKCE and the code of the provider, because any process may be asked next.
    """

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in_seconds: int
    interval_seconds: int


@dataclass(frozen=True)
class Pending:
    """The user has not decided yet. `is_too_fast`: the command asks more often than the provider allows."""

    is_too_fast: bool


class Provider:
    """One provider. Each method raises ProviderAway while it does not answer, or has another fault."""

    def __init__(
        self,
        options: ProviderOptions,
        transport: ProviderTransport,
        now: Clock = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.options = options
        self._transport = transport
        self._now = now
        self._metadata = FetchedValue(self._discovered, clock)
        self._keys = FetchedValue(self._fetched_keys, clock)

    async def close(self) -> None:
        await self._transport.close()

    async def authorization_url(self, secrets: BrowserSecrets) -> str:
        """Return the address to which a browser goes to sign in."""
        metadata = await self._metadata.get()
        query = {
            "response_type": "code",
            "client_id": self.options.client_id,
            "redirect_uri": self.options.redirect_uri,
            "scope": " ".join(self.options.scopes),
            "state": secrets.state,
            "nonce": secrets.nonce,
            **challenge(secrets.verifier),
        }
        parts = urlsplit(metadata.authorization)
        own = f"{parts.query}&" if parts.query else ""
        return urlunsplit(parts._replace(query=own + urlencode(query)))

    async def require_issuer(self, issuer: str | None) -> None:
        """Raise SignInFailed if an answer to a browser is of another issuer, or has none (RFC 9207)."""
        metadata = await self._metadata.get()
        if issuer != metadata.issuer and (issuer is not None or metadata.names_itself):
            raise SignInFailed("the answer is not of the identity provider that was asked")

    async def redeemed(self, code: str, secrets: BrowserSecrets) -> Identity:
        """Return the person for the code that the browser has brought. Raises SignInFailed."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.options.redirect_uri,
            "code_verifier": secrets.verifier,
        }
        async with self._in_time():
            answer = await self._post((await self._metadata.get()).token, form)
            if answer.is_error:
                raise refusal(answer.body.get("error"), answer.body.get("error_description"))
            return await self._identity(answer.body, secrets.nonce)

    async def device_code(self) -> DeviceCode:
        """Begin a device flow. Raises SignInFailed if the provider has none."""
        metadata = await self._metadata.get()
        if metadata.device is None:
            raise SignInFailed("the identity provider has no device flow, which the command line needs")
        verifier = new_verifier()
        # RFC 8628 has no PKCE, but Keycloak requires it here, too, of a client that has to use it.
        form = {"scope": " ".join(self.options.scopes), **challenge(verifier)}
        answer = await self._post(metadata.device, form)
        if answer.is_error:
            raise refusal(answer.body.get("error"), answer.body.get("error_description"))
        return _device_code(answer.body, verifier)

    async def polled(self, device_code: str) -> Identity | Pending:
        """Return the person who has entered the user code. Raises SignInFailed if denied or expired."""
        verifier, _, code = device_code.partition(".")
        form = {"grant_type": DEVICE_GRANT, "device_code": code, "code_verifier": verifier}
        async with self._in_time():
            answer = await self._post((await self._metadata.get()).token, form)
            if not answer.is_error:
                return await self._identity(answer.body, nonce=None)
        if answer.body.get("error") in PENDING:
            return Pending(is_too_fast=answer.body["error"] == "slow_down")
        raise refusal(answer.body.get("error"), answer.body.get("error_description"))

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Raise ProviderAway if all requests of a step together take longer than one may."""
        try:
            async with asyncio.timeout(self._transport.answer_seconds):
                yield
        except TimeoutError:
            logger.warning("identity provider: no answer to all requests of a sign-in in time")
            raise does_not_answer() from None

    async def _discovered(self) -> Metadata:
        return await discovered(self._transport, self.options.issuer)

    async def _fetched_keys(self) -> KeySet:
        url = (await self._metadata.get()).keys
        answer = await self._transport.get(url)
        try:
            return key_set_of(answer.body)
        except ValueError as error:
            logger.error("identity provider: %s: %s", url, error)
            raise ProviderAway("the identity provider publishes no keys that can be used") from None

    async def _post(self, url: str, form: Mapping[str, str]) -> ProviderAnswer:
        """Post a form as this client, which authenticates itself as the provider wants (RFC 6749, 2.3.1)."""
        client_id, secret = self.options.client_id, self.options.client_secret
        if secret is None:
            return await self._transport.post(url, data={**form, "client_id": client_id})
        if (await self._metadata.get()).client_method == "client_secret_post":
            authenticated = {**form, "client_id": client_id, "client_secret": secret}
            return await self._transport.post(url, data=authenticated)
        return await self._transport.post(url, data=form, auth=(quote_plus(client_id), quote_plus(secret)))

    async def _identity(self, tokens: Mapping[str, Any], nonce: str | None) -> Identity:
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise SignInFailed("the identity provider gives no ID token; its scopes must have openid")
        claims = await self._claims(id_token, nonce)
        names = (self.options.user_claim, self.options.groups_claim)
        if any(name not in claims for name in needed_claims(*names)):
            claims = with_further(claims, await self._user_info(tokens.get("access_token"), claims["sub"]))
        return identity_of(claims, *names)

    async def _claims(self, id_token: str, nonce: str | None) -> Mapping[str, Any]:
        """Return the claims of an ID token, by newer keys if it has no valid signature by the cached ones."""
        expected = (self.options.issuer, self.options.client_id, nonce, self._now())
        try:
            return claims_of(id_token, await self._keys.get(), *expected)
        except UnknownKey:
            if (newer := await self._keys.get_newer()) is None:
                raise
            return claims_of(id_token, newer, *expected)

    async def _user_info(self, access_token: object, subject: str) -> Mapping[str, Any]:
        """Return further claims of the same person; none if the provider has none.

        Providers may leave claims out of the ID token, because there is a userinfo endpoint.
        """
        url = (await self._metadata.get()).userinfo
        if url is None or not isinstance(access_token, str):
            return {}
        answer = await self._transport.get(url, headers={"Authorization": f"Bearer {access_token}"})
        # Core 1.0, section 5.3.2: claims of another subject must not be used.
        if answer.is_error or answer.body.get("sub") != subject:
            raise SignInFailed("the identity provider does not tell name and groups")
        return answer.body


def _device_code(body: Mapping[str, Any], verifier: str) -> DeviceCode:
    """Return the answer to the begin of a device flow. Raises ProviderAway for a wrong one."""
    try:
        complete = body.get("verification_uri_complete")
        return DeviceCode(
            f"{verifier}.{body['device_code']}",
            str(body["user_code"]),
            _web_address(body["verification_uri"]),
            None if complete is None else _web_address(complete),
            int(body["expires_in"]),
            max(1, int(body.get("interval", DEFAULT_INTERVAL_SECONDS))),
        )
    except (KeyError, TypeError, ValueError) as error:
        logger.error("identity provider: wrong answer to the begin of a device flow: %r", error)
        raise ProviderAway("the identity provider answers with an error; try again later") from None


def _web_address(value: object) -> str:
    text = str(value)
    if urlsplit(text).scheme not in ("http", "https") or not text.isprintable():
        raise ValueError("no address of a web page")
    return text
