"""The calls a client can make. Every one may be repeated: reads and PUTs by nature, POSTs by their key."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from api.client.problems import Problem
from api.client.stream import ServerEvent
from api.client.transport import Manner, Transport, given

# The most rows a server gives at once.
PAGE = 1000
STALE = 412
EDIT_ATTEMPTS = 5


class Client:
    """One server, as one user. Not for several threads at once: it remembers the last `position` written.

    `how` is the Manner in which it is asked.
    """

    def __init__(self, url: str, token: str | None = None, **how: Any) -> None:
        self._token, self._how = token, how
        self._transport = Transport(url, token, Manner(**how))
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
        """The same server and user, for another thread, or asked in another manner."""
        return Client(self.url, self._token, **self._how | how)

    def with_token(self, token: str | None) -> Client:
        """Return a client of the same server for another user, or for nobody."""
        return Client(self.url, token, **self._how)

    @staticmethod
    def path(*parts: object) -> str:
        """`("systems", fqdn)` -> `/systems/…`, whatever letters a name has."""
        return "".join(f"/{quote(str(part), safe='')}" for part in parts)

    def get(
        self,
        path: str,
        *,
        min_position: int | None = None,
        wait_seconds: int | None = None,
        **parameters: Any,
    ) -> Any:
        """Read. `min_position` waits for the read model; `wait_seconds` is a long poll."""
        query = {**parameters, "min_position": min_position, "wait_seconds": wait_seconds}
        timeout = self._transport.manner.answer_seconds + (wait_seconds or 0)
        return self._call("GET", path, params=given(query), timeout=timeout)

    def get_text(self, path: str, content_type: str, **parameters: Any) -> str:
        """Read something in another form than JSON."""
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
        """A list with its further pages joined, up to `limit` rows; `seen` hears how many there are."""
        most = PAGE if limit is None else min(limit, PAGE)
        page: dict[str, Any] = self.get(path, limit=most, **parameters)
        first, rows = page, list(page[name])
        while page.get("next") is not None and (limit is None or len(rows) < limit):
            seen(len(rows))
            most = PAGE if limit is None else min(limit - len(rows), PAGE)
            page = self.get(path, limit=most, cursor=_cursor(page["next"]), **parameters)
            rows += page[name]
        return {**first, name: rows, "next": page.get("next")}

    def text_pages(self, path: str, content_type: str, **parameters: Any) -> Iterator[str]:
        """All of a list, page by page, as of the position of the first one."""
        while True:
            asked = given({"limit": PAGE, **parameters})
            answer = self._answered("GET", path, params=asked, headers={"Accept": content_type})
            yield answer.text
            if "next" not in answer.links:
                return
            parameters["as_of"] = answer.headers["Labledger-Position"]
            parameters["cursor"] = _cursor(answer.links["next"]["url"])

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """`key` makes repetitions one request; a new one is made for every call that brings none."""
        return self._send("POST", path, body, {"Idempotency-Key": key or str(uuid.uuid4())})

    def post_text(self, path: str, content: bytes, content_type: str, **parameters: Any) -> Any:
        headers = {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": content_type}
        return self._call("POST", path, content=content, headers=headers, params=given(parameters))

    def put(self, path: str, body: Any) -> Any:
        return self._send("PUT", path, body)

    def edit(self, path: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        """Put what `change` makes of what is there, and again of what it is by then if it moves meanwhile."""
        for left in reversed(range(EDIT_ATTEMPTS)):
            found = self._answered("GET", path)
            body = change(found.json())
            try:
                return self._send("PUT", path, body, {"If-Match": found.headers["ETag"]})
            except Problem as problem:
                if problem.status != STALE or not left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def patch(self, path: str, body: Any) -> Any:
        return self._send("PATCH", path, body)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path)

    def log(self, after: int, **parameters: Any) -> Iterator[dict[str, Any]]:
        """What is recorded behind that position, page by page, to the end of the log."""
        following: int | None = after
        while following is not None:
            page = self.get("/events", after=following, limit=PAGE, **parameters)
            yield from page["events"]
            following = page["next"]

    def events(self, *, after: int | None = None, **parameters: Any) -> Iterator[ServerEvent]:
        """The live log; after an interruption it goes on behind the last event seen."""
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
        raise Problem(
            answer.status_code, "This is not a Labledger server", "its answer is not JSON"
        ) from None


def _cursor(following: str) -> str:
    """The cursor in the path of a list's next page."""
    (cursor,) = parse_qs(urlsplit(following).query)["cursor"]
    return cursor
