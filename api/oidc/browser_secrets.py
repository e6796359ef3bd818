"""The values that bind an answer of the identity provider to one sign-in of one browser."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass


@dataclass(frozen=True)
class BrowserSecrets:
    """The `state` comes back in the address, the `nonce` in the ID token; `verifier` is that of PKCE."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def derived(cls, secret: str) -> BrowserSecrets:
        """Return the values derived from the secret in the sign-in cookie; none reveals another."""
        return cls(*(_derived(secret, name) for name in ("state", "nonce", "verifier")))

    def has_state(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self.state.encode())


def _derived(secret: str, name: str) -> str:
    digest = hmac.new(secret.encode(), f"labledger {name}".encode(), hashlib.sha256).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
