"""The cookie with the token of a browser, and the values that bind forms to it.

The cookie counts only for pages: the HTTP API takes bearer tokens and ignores it, so no foreign page can make
a browser call the API.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime
from typing import Final

from falcon.asgi import Request, Response

SESSION: Final = "__Host-labledger"
# Before the login there is no token to bind its form to.
LOGIN: Final = "__Host-labledger-login"
# While the browser is at the identity provider. `Lax`, because the way back begins at another site.
SIGN_IN: Final = "__Host-labledger-sign-in"
FORM_FIELD: Final = "form_value"
_LOGIN_SECONDS: Final = 3_600
_SIGN_IN_SECONDS: Final = 600
# A longer address would not fit into a cookie.
_MAX_NEXT_BYTES: Final = 2_000
_PAST: Final = datetime(1970, 1, 1, tzinfo=UTC)


def session_token(req: Request) -> str | None:
    """Return the token in the cookie of a request; None without one, or if it is sent twice."""
    return _one(req, SESSION)


def store_session(resp: Response, token: str, expires_at: datetime) -> None:
    _store(resp, SESSION, token, expires=expires_at)
    _drop(resp, LOGIN)


def end_session(resp: Response) -> None:
    _drop(resp, SESSION)


def form_value(token: str) -> str:
    """Return a value for the forms of this session; the token cannot be computed from it.

    It is another one each time, because pages are compressed: the size of a compressed page tells how much of
    a constant secret equals text that somebody put into the address (BREACH).
    """
    mask = secrets.token_bytes(hashlib.sha256().digest_size)
    return (mask + _masked(_binding(token), mask)).hex()


def begin_login(req: Request, resp: Response) -> str:
    """Return the value of the login form, which belongs to a cookie of its own."""
    secret = _one(req, LOGIN) or secrets.token_urlsafe(32)
    _store(resp, LOGIN, secret, max_age=_LOGIN_SECONDS)
    return form_value(secret)


def begin_sign_in(resp: Response, next_path: str) -> str:
    """Store the cookie of a sign-in that leads to a path; return its secret."""
    secret = secrets.token_urlsafe(32)
    path = next_path.encode()
    stored = path.hex() if len(path) <= _MAX_NEXT_BYTES else ""
    _store(resp, SIGN_IN, f"{secret}.{stored}", max_age=_SIGN_IN_SECONDS)
    return secret


def begun_sign_in(req: Request) -> tuple[str, str] | None:
    """Return the secret and the path of the cookie of a sign-in, None without one."""
    secret, _, path = (_one(req, SIGN_IN) or "").partition(".")
    try:
        return (secret, bytes.fromhex(path).decode()) if secret else None
    except ValueError:
        return None


def end_sign_in(resp: Response) -> None:
    _drop(resp, SIGN_IN)


def is_from_form(req: Request, given: str | None, *, is_login: bool = False) -> bool:
    """Return whether the value of a form belongs to the cookie of its request."""
    secret = _one(req, LOGIN if is_login else SESSION)
    if secret is None or given is None:
        return False
    try:
        value = bytes.fromhex(given)
    except ValueError:
        return False
    mask, masked = value[: len(value) // 2], value[len(value) // 2 :]
    return hmac.compare_digest(_binding(secret), _masked(masked, mask))


def is_same_origin(req: Request) -> bool:
    """Return whether a browser sent the request from a page of this service.

    `Origin` counts where the browser sends no `Sec-Fetch-Site`: over plain HTTP, except on loopback.
    """
    site = req.get_header("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return req.get_header("Origin") == f"{req.forwarded_scheme}://{req.forwarded_host}"


def is_from_other_site(req: Request) -> bool:
    """Return whether a browser says that a page of another site began the request."""
    return req.get_header("Sec-Fetch-Site") == "cross-site"


def _binding(token: str) -> bytes:
    return hmac.new(token.encode(), b"labledger form", hashlib.sha256).digest()


def _masked(value: bytes, mask: bytes) -> bytes:
    """Return a value with a mask of its length, or without the mask that it has."""
    return bytes(one ^ other for one, other in zip(value, mask, strict=False))


def _one(req: Request, name: str) -> str | None:
    values = req.get_cookie_values(name)
    return values[0] if values is not None and len(values) == 1 and values[0] else None


def _drop(resp: Response, name: str) -> None:
    # With all attributes, because a browser refuses to change such a cookie without them.
    _store(resp, name, "", expires=_PAST)


def _store(
    resp: Response, name: str, value: str, *, expires: datetime | None = None, max_age: int | None = None
) -> None:
    resp.set_cookie(
        name, value, expires=expires, max_age=max_age, path="/", secure=True, http_only=True, same_site="Lax"
    )
