"""Headers of answers, in OpenAPI form."""

from __future__ import annotations

from typing import Any

from api.headers import POSITION_HEADER
from api.rest.contract.answers.common import Answer
from api.rest.contract.operation import Operation
from api.rest.contract.queries import Page

Header = dict[str, Any]

_TEXT = {"type": "string"}
_POSITION: Header = {
    "description": "the log position that the answer reflects, or that of the last event written",
    "required": True,
    "schema": {"type": "integer", "minimum": 0},
}
_LOCATION: Header = {"description": "path of the new resource", "required": True, "schema": _TEXT}
_ETAG: Header = {"description": "version of the resource, for If-Match", "schema": _TEXT}
_LINK: Header = {"description": "rel=next: the next page", "schema": _TEXT}
_RETRY: Header = {"description": "seconds until a retry", "schema": {"type": "integer", "minimum": 0}}


def success_headers(method: str, operation: Operation) -> dict[str, Header]:
    """Return the headers of a successful answer."""
    headers: dict[str, Header] = {}
    if operation.answer is not None and issubclass(operation.answer, Answer):
        headers[POSITION_HEADER] = _POSITION
    if operation.created:
        headers["Location"] = _LOCATION
    if operation.versioned and method == "GET":
        headers["ETag"] = _ETAG
    if issubclass(operation.query, Page):
        headers["Link"] = _LINK
    return headers


def error_headers(status: int) -> dict[str, Header]:
    """Return the headers of an error."""
    if status == 401:
        return {"WWW-Authenticate": {"description": "the authentication scheme", "schema": _TEXT}}
    return {"Retry-After": _RETRY} if status in (429, 503) else {}
