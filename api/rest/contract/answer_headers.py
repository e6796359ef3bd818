"""What stands in the heads of answers, as OpenAPI has it."""

from __future__ import annotations

from typing import Any

from api.headers import POSITION_HEADER
from api.rest.contract.answers.common import Answer
from api.rest.contract.operation import Operation
from api.rest.contract.queries import Page

Header = dict[str, Any]

_TEXT = {"type": "string"}
_POSITION: Header = {
    "description": "the position of the log that it reflects, or that of the last event written",
    "required": True,
    "schema": {"type": "integer", "minimum": 0},
}
_LOCATION: Header = {"description": "what was made", "required": True, "schema": _TEXT}
_ETAG: Header = {"description": "the version, for If-Match", "schema": _TEXT}
_LINK: Header = {"description": "rel=next: where the list goes on", "schema": _TEXT}
_RETRY: Header = {"description": "in how many seconds", "schema": {"type": "integer", "minimum": 0}}


def headers_done(method: str, operation: Operation) -> dict[str, Header]:
    """Of an answer that is no refusal."""
    found: dict[str, Header] = {}
    if operation.answer is not None and issubclass(operation.answer, Answer):
        found[POSITION_HEADER] = _POSITION
    if operation.created:
        found["Location"] = _LOCATION
    if operation.versioned and method == "GET":
        found["ETag"] = _ETAG
    if issubclass(operation.query, Page):
        found["Link"] = _LINK
    return found


def headers_refused(status: int) -> dict[str, Header]:
    if status == 401:
        return {"WWW-Authenticate": {"description": "how to say who asks", "schema": _TEXT}}
    return {"Retry-After": _RETRY} if status in (429, 503) else {}
