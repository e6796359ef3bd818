"""Errors of signing in at an identity provider."""

from __future__ import annotations

import logging
from typing import Final

from domain.characters import escaped
from domain.errors import LabledgerError

MAX_SHOWN_CHARACTERS: Final = 200

logger = logging.getLogger(__name__)


class SignInFailed(LabledgerError):
    """Sign-in failed."""


class ProviderAway(LabledgerError):
    """Identity provider unavailable."""


def does_not_answer() -> ProviderAway:
    return ProviderAway("the identity provider does not answer; try again later")


# The error codes of OAuth 2.0 that users can do something about.
_REFUSALS: Final = {
    "access_denied": "the sign-in was denied at the identity provider",
    "expired_token": "the code has expired; begin again",
    "invalid_grant": "the sign-in took too long or was used before; begin again",
    "login_required": "the identity provider needs a login; begin again",
    "temporarily_unavailable": "the identity provider is busy; try again later",
    "server_error": "the identity provider has a fault; try again later",
}


def refusal(code: object, description: object) -> SignInFailed:
    """Return the error for an error code of the provider; the log has a code that is not for users."""
    if (words := _REFUSALS.get(str(code))) is None:
        said = escaped(f"{code}: {description}" if description else str(code), MAX_SHOWN_CHARACTERS)
        logger.warning("identity provider: refused: %s", said)
        words = f"the identity provider refused the sign-in ({said})"
    return SignInFailed(words)
