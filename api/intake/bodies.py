"""Checks of a body before it is parsed, for XML and JSON."""

from __future__ import annotations

from typing import NoReturn

from api.intake.limits import MAX_BODY_BYTES
from domain.errors import Fault, Unreadable


def unreadable(where: str, message: str) -> NoReturn:
    raise Unreadable([Fault(where, message)]) from None


def check_body(body: bytes) -> str:
    """The body as text. Refuses what is empty, too large, not UTF-8 or holds NULs."""
    if len(body) > MAX_BODY_BYTES:
        unreadable("body", f"is larger than {MAX_BODY_BYTES} bytes")
    if not body.strip():
        unreadable("body", "is empty")
    if b"\0" in body:
        unreadable("body", "contains NUL characters")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as wrong:
        unreadable(f"byte {wrong.start}", "is not UTF-8")
