"""An answer of the server itself, before or without the application: a problem as all others are."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

import orjson

from api.headers import PROBLEM
from api.rest.problems import RETRY_SECONDS, problem


def refusal(status: int, detail: str, extra: Iterable[tuple[str, str]] = ()) -> bytes:
    """As it is written; the connection ends with it."""
    phrase = HTTPStatus(status).phrase
    body = orjson.dumps(problem(status, detail or phrase))
    fields = [("Content-Type", PROBLEM), ("Content-Length", str(len(body))), ("Connection", "close"), *extra]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        fields.append(("Retry-After", str(RETRY_SECONDS)))
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
