"""Checks of a body before it is parsed, for XML and JSON."""

from __future__ import annotations

from typing import NoReturn

from api.intake.limits import BODY_LIMIT_BYTES
from domain.errors import Fault, Unreadable


def unreadable(where: str, message: str) -> NoReturn:
    raise Unreadable([Fault(where, message)]) from None


def check_body(body: bytes) -> str:
    """The body as text. Refuses what is empty, too large, not UTF-8 or holds NULs."""
    if len(body) > BODY_LIMIT_BYTES:
        unreadable("body", f"is larger than {BODY_LIMIT_BYTES} bytes")
    if not body.strip():
        unreadable("body", "is empty")
    if b"\0" in body:
        unreadable("body", "contains NUL characters")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as wrong:
        unreadable(f"byte {wrong.start}", "is not UTF-8")
