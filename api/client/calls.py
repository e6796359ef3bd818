"""The calls of a client. All may be repeated: reads and PUTs are idempotent, POSTs have a key."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from api.client.problems import ServerProblem
from api.client.stream import ServerEvent
from api.client.transport import RequestOptions, Transport, given

# The largest page that a server returns.
PAGE = 1000
STALE = 412
EDIT_ATTEMPTS = 5


class Client:
    """A client of one server, for one user and one thread. It keeps the last `position` written.

    `how` are the fields of `RequestOptions`.
    """

    def __init__(self, url: str, token: str | None = None, **how: Any) -> None:
        self._token, self._how = token, how
        self._transport = Transport(url, token, RequestOptions(**how))
        self.url = self._transport.url
        self.position: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def another(self, **how: Any) -> Client:
        """Return a client of the same server and user, for another thread or with other options."""
        return Client(self.url, self._token, **self._how | how)

    def with_token(self, token: str | None) -> Client:
        """Return a client of the same server with another token, or with none."""
        return Client(self.url, token, **self._how)

    @staticmethod
    def path(*parts: object) -> str:
        """Return a path of quoted parts: `("systems", fqdn)` -> `/systems/…`."""
        return "".join(f"/{quote(str(part), safe='')}" for part in parts)

    def get(
        self,
        path: str,
        *,
        min_position: int | None = None,
        wait_seconds: int | None = None,
        **parameters: Any,
    ) -> Any:
        """Return the JSON of a resource. `min_position` waits for the read model, `wait_seconds` for news."""
        query = {**parameters, "min_position": min_position, "wait_seconds": wait_seconds}
        timeout = self._transport.options.answer_seconds + (wait_seconds or 0)
        return self._call("GET", path, params=given(query), timeout=timeout)

    def get_text(self, path: str, content_type: str, **parameters: Any) -> str:
        """Return a resource in another form than JSON."""
        return self._answered("GET", path, params=given(parameters), headers={"Accept": content_type}).text

    def get_bytes(self, path: str, **parameters: Any) -> bytes:
        """Return a resource byte for byte as it is stored."""
        return self._answered("GET", path, params=given(parameters), headers={"Accept": "*/*"}).content

    def pages(
        self,
        path: str,
        name: str,
        *,
        limit: int | None = None,
        seen: Callable[[int], None] = lambda rows: None,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Return up to `limit` rows of a list as one page. Calls `seen` with the number of rows so far."""
        page_size = PAGE if limit is None else min(limit, PAGE)
        page: dict[str, Any] = self.get(path, limit=page_size, **parameters)
        first, rows = page, list(page[name])
        while page.get("next") is not None and (limit is None or len(rows) < limit):
            seen(len(rows))
            page_size = PAGE if limit is None else min(limit - len(rows), PAGE)
            page = self.get(path, limit=page_size, cursor=_cursor(page["next"]), **parameters)
            rows += page[name]
        return {**first, name: rows, "next": page.get("next")}

    def text_pages(self, path: str, content_type: str, **parameters: Any) -> Iterator[str]:
        """Yield the pages of a list, all as of the position of the first one."""
        while True:
            query = given({"limit": PAGE, **parameters})
            answer = self._answered("GET", path, params=query, headers={"Accept": content_type})
            yield answer.text
            if "next" not in answer.links:
                return
            parameters["as_of"] = answer.headers["Labledger-Position"]
            parameters["cursor"] = _cursor(answer.links["next"]["url"])

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Post a body. Requests with the same `key` take effect once (default: a new key for each call)."""
        return self._send("POST", path, body, {"Idempotency-Key": key or str(uuid.uuid4())})

    def post_text(self, path: str, content: bytes, content_type: str, **parameters: Any) -> Any:
        headers = {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": content_type}
        return self._call("POST", path, content=content, headers=headers, params=given(parameters))

    def put(self, path: str, body: Any) -> Any:
        return self._send("PUT", path, body)

    def edit(self, path: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        """Replace a resource by what `change` returns for it; read and try again if it changed meanwhile."""
        for left in reversed(range(EDIT_ATTEMPTS)):
            found = self._answered("GET", path)
            body = change(found.json())
            try:
                return self._send("PUT", path, body, {"If-Match": found.headers["ETag"]})
            except ServerProblem as problem:
                if problem.status != STALE or not left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def patch(self, path: str, body: Any) -> Any:
        return self._send("PATCH", path, body)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path)

    def log(self, after: int, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the events after a position up to the end of the log, reading page by page."""
        following: int | None = after
        while following is not None:
            page = self.get("/events", after=following, limit=PAGE, **parameters)
            yield from page["events"]
            following = page["next"]

    def events(self, *, after: int | None = None, **parameters: Any) -> Iterator[ServerEvent]:
        """Yield events of the live log; after an interruption, continue after the last event."""
        return self._transport.follow("/events", {**parameters, "after": after})

    def _send(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        return self._call(method, path, headers=headers, json={} if body is None else body)

    def _call(self, method: str, path: str, **request: Any) -> Any:
        return _body(self._answered(method, path, **request))

    def _answered(self, method: str, path: str, **request: Any) -> httpx.Response:
        answer = self._transport.answered(method, path, request)
        if "Labledger-Position" in answer.headers and method != "GET":
            self.position = int(answer.headers["Labledger-Position"])
        return answer


def _body(answer: httpx.Response) -> Any:
    if not answer.content:
        return None
    try:
        return answer.json()
    except ValueError:
        raise ServerProblem(
            answer.status_code, "This is not a Labledger server", "its answer is not JSON"
        ) from None


def _cursor(following: str) -> str:
    """Return the cursor in the path of a list's next page."""
    (cursor,) = parse_qs(urlsplit(following).query)["cursor"]
    return cursor
