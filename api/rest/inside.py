"""Requests for pages from inside the service, by the application itself: they render live pages again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from api.headers import POSITION_HEADER
from api.rest.context import Principal

# The ASGI extension with the principal of such a request. No client can send one.
INSIDE: Final = "labledger.inside"

Application = Callable[[Any, Any, Any], Awaitable[None]]


class RenderedPage(NamedTuple):
    position: int
    text: str


async def render_inside(application: Application, principal: Principal, address: str) -> RenderedPage | None:
    """Return a page as the principal sees it now; None if it cannot be shown, for instance while building."""
    path, _, query = address.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [],
        "server": ("inside", None),
        "client": None,
        "extensions": {INSIDE: principal},
    }
    started: dict[str, Any] = {}
    chunks: list[bytes] = []

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            chunks.append(message.get("body", b""))

    await application(scope, _no_body, send)
    if started.get("status") != 200:
        return None
    headers = {name.decode().lower(): value.decode() for name, value in started["headers"]}
    return RenderedPage(int(headers[POSITION_HEADER.lower()]), b"".join(chunks).decode())


async def _no_body() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def principal_inside(scope: Any) -> Principal | None:
    """Return the principal of a request from inside, None for any other request."""
    found: Principal | None = scope.get("extensions", {}).get(INSIDE)
    return found
