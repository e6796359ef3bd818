"""Signing in with an identity provider, as the settings allow it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from api.moving_window import MovingWindow
from domain.directory.external_groups import GroupMap
from domain.errors import TooOften
from runtime.group_table import read_group_table
from runtime.settings import Settings

if TYPE_CHECKING:
    from api.oidc.provider import Provider

RETURN_PATH: Final = "/ui/login/sso/return"
# Each request becomes some to the provider. Several people may share an address, and a command asks every
# five seconds.
MAX_REQUESTS: Final = 120
WITHIN_SECONDS: Final = 60


@dataclass(frozen=True)
class SignIn:
    """The provider, with its `name` for people, and the groups for those of the provider.

    `web_url` is the address of the service, to which the provider leads back. `creates_users`: whether a
    person without a user gets one. `admins` may sign in although no sign-in has created them.
    `admits_device_admins`: whether the device flow gives tokens with the role admin.
    """

    provider: Provider
    name: str
    web_url: str
    group_map: GroupMap
    creates_users: bool
    admins: Collection[str] = ()
    admits_device_admins: bool = False
    _requests: MovingWindow = field(default_factory=partial(MovingWindow, MAX_REQUESTS, WITHIN_SECONDS))

    def require_pace(self, address: str) -> None:
        """Count a request without a token. Raises TooOften above MAX_REQUESTS."""
        if seconds := self._requests.take(address):
            raise TooOften(f"at most {MAX_REQUESTS} requests to sign in are allowed a minute", seconds)


def sign_in_of(settings: Settings) -> SignIn | None:
    """Return the sign-in of the settings, None without an issuer. Raises BadGroupTable."""
    # Read without an issuer, too, because it may have a fault.
    table = read_group_table(settings.group_table)
    if settings.oidc_issuer is None:
        return None
    # Imported here, because other services start faster without them.
    from api.oidc.provider import Provider, ProviderOptions
    from api.oidc.transport import ProviderTransport

    web_url = (settings.web_url or "").rstrip("/")
    options = ProviderOptions(
        settings.oidc_issuer,
        settings.oidc_client_id or "",
        settings.oidc_client_secret,
        web_url + RETURN_PATH,
        settings.oidc_scopes,
        settings.oidc_user_claim,
        settings.oidc_groups_claim if table.oidc else None,
    )
    name = settings.oidc_name or urlsplit(settings.oidc_issuer).hostname or settings.oidc_issuer
    provider = Provider(options, ProviderTransport(ca_file=settings.ca_file))
    return SignIn(
        provider,
        name,
        web_url,
        table.oidc,
        settings.oidc_creates_users,
        frozenset(settings.oidc_admins),
        settings.oidc_device_admins,
    )
