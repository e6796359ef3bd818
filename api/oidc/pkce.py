"""Proof keys of code exchanges (PKCE, RFC 7636), by the method S256."""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode


def new_verifier() -> str:
    """Return a random verifier; it has no full stop."""
    return secrets.token_urlsafe(32)


def challenge(verifier: str) -> dict[str, str]:
    """Return the parameters of the request that begins a sign-in; they do not reveal the verifier."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return {
        "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
