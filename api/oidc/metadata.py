"""The metadata that an issuer publishes about itself (OpenID Connect Discovery 1.0)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.oidc.errors import ProviderAway
from api.oidc.transport import ProviderTransport
from runtime.setting_values import provider_url

DISCOVERY_PATH: Final = "/.well-known/openid-configuration"
# The methods of authentication of a client at the token endpoint, the first one if none is published.
CLIENT_METHODS: Final = ("client_secret_basic", "client_secret_post")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Metadata:
    """The endpoints of an issuer; `device` and `userinfo` are None if it has none."""

    issuer: str
    authorization: str
    token: str
    keys: str
    device: str | None
    userinfo: str | None
    client_method: str
    names_itself: bool


async def discovered(transport: ProviderTransport, issuer: str) -> Metadata:
    """Return the metadata of an issuer. Raises ProviderAway if it is not there, or cannot be used."""
    url = issuer.rstrip("/") + DISCOVERY_PATH
    answer = await transport.get(url)
    try:
        if answer.is_error:
            raise ValueError(f"status {answer.status}")
        return _metadata(issuer, answer.body)
    except ValueError as error:
        logger.error("identity provider: %s: %s", url, error)
        raise ProviderAway("the identity provider is not set up for this service; ask an admin") from None


def _metadata(issuer: str, body: Mapping[str, Any]) -> Metadata:
    # A document of another issuer would let that one sign people in.
    if body.get("issuer") != issuer:
        raise ValueError(f"the issuer must be {issuer!r}, not {body.get('issuer')!r}")
    return Metadata(
        issuer,
        authorization=_url(body, "authorization_endpoint"),
        token=_url(body, "token_endpoint"),
        keys=_url(body, "jwks_uri"),
        device=_optional_url(body, "device_authorization_endpoint"),
        userinfo=_optional_url(body, "userinfo_endpoint"),
        client_method=_client_method(body.get("token_endpoint_auth_methods_supported")),
        names_itself=body.get("authorization_response_iss_parameter_supported") is True,
    )


def _url(body: Mapping[str, Any], name: str) -> str:
    """Return a URL. Raises ValueError for one without TLS."""
    value = body.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is missing")
    try:
        return provider_url(value)
    except ValueError as error:
        raise ValueError(f"{name} {error}, not {value!r}") from None


def _optional_url(body: Mapping[str, Any], name: str) -> str | None:
    return _url(body, name) if body.get(name) is not None else None


def _client_method(offered: object) -> str:
    methods = offered if isinstance(offered, list) else ()
    return next((method for method in CLIENT_METHODS if method in methods), CLIENT_METHODS[0])
