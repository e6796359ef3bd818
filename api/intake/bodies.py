"""Checks of a body before it is parsed, for XML and JSON."""

from __future__ import annotations

from typing import NoReturn

from api.intake.limits import MAX_BODY_BYTES
from domain.errors import Fault, Unreadable


def raise_unreadable(where: str, message: str) -> NoReturn:
    raise Unreadable([Fault(where, message)]) from None


def check_body(body: bytes) -> str:
    """Return the body as text. Raises Unreadable if it is empty, too large, not UTF-8, or contains a NUL."""
    if len(body) > MAX_BODY_BYTES:
        raise_unreadable("body", f"is larger than {MAX_BODY_BYTES} bytes")
    if not body.strip():
        raise_unreadable("body", "is empty")
    if b"\0" in body:
        raise_unreadable("body", "contains NUL characters")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise_unreadable(f"byte {error.start}", "is not UTF-8")
