"""Error answers of the server itself, without the application, as problems."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

import orjson

from api.headers import PROBLEM
from api.rest.problems import RETRY_SECONDS, problem


def refusal(status: int, detail: str, extra: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return the bytes of an error answer that closes the connection."""
    phrase = HTTPStatus(status).phrase
    body = orjson.dumps(problem(status, detail or phrase))
    fields = [("Content-Type", PROBLEM), ("Content-Length", str(len(body))), ("Connection", "close"), *extra]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        fields.append(("Retry-After", str(RETRY_SECONDS)))
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
