"""The HTTP client. All its requests may be repeated, because every POST has an Idempotency-Key."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from api.client.problems import ServerProblem, Unreachable, problem_in
from api.client.retry_policy import TEMPORARY_STATUSES
from api.client.stream import ServerEvent
from api.client.transport import RequestOptions, Transport, without_none
from api.headers import IDEMPOTENCY_KEY, LENIENT, PREFER, RETRY_AFTER_SECONDS
from domain.errors import Fault, FaultyInput

# The maximum number of rows that the server returns in one page.
PAGE_SIZE = 1000
PRECONDITION_FAILED = 412
EDIT_ATTEMPTS = 5


class Client:
    """A client for one user and thread, with `RequestOptions`. `position` is that of its last write."""

    def __init__(self, url: str, token: str | None = None, **options: Any) -> None:
        self._token, self._options = token, options
        self._transport = Transport(url, token, RequestOptions(**options))
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

    def another(self, **options: Any) -> Client:
        """Return a client of the same server and user, for another thread or with other options."""
        return Client(self.url, self._token, **self._options | options)

    def with_token(self, token: str | None) -> Client:
        return Client(self.url, token, **self._options)

    @staticmethod
    def path(*parts: object) -> str:
        """Return a path of quoted parts: `("systems", fqdn)` -> `/systems/…`.

        Raises FaultyInput for a part with a slash, which no name or id has and servers read as two parts.
        """
        faults = [Fault("path", f"{part!r} must have no slash") for part in parts if "/" in str(part)]
        if faults:
            raise FaultyInput(faults)
        return "".join(f"/{quote(str(part), safe='')}" for part in parts)

    def get(
        self,
        path: str,
        *,
        min_position: int | None = None,
        wait_seconds: int | None = None,
        **parameters: Any,
    ) -> Any:
        """Return the JSON of a resource. `wait_seconds` is the maximum wait for a new item of a list."""
        query = {**parameters, "min_position": min_position, "wait_seconds": wait_seconds}
        timeout = self._transport.options.answer_seconds + (wait_seconds or 0)
        return self._call("GET", path, params=without_none(query), timeout=timeout)

    def get_text(self, path: str, content_type: str, **parameters: Any) -> str:
        return self._request(
            "GET", path, params=without_none(parameters), headers={"Accept": content_type}
        ).text

    def get_bytes(self, path: str, **parameters: Any) -> bytes:
        return self._request("GET", path, params=without_none(parameters), headers={"Accept": "*/*"}).content

    def pages(
        self,
        path: str,
        name: str,
        /,
        *,
        limit: int | None = None,
        on_page: Callable[[int], None] = lambda row_count: None,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Return up to `limit` rows of a list as one page. `on_page` gets the row count so far."""
        page_size = PAGE_SIZE if limit is None else min(limit, PAGE_SIZE)
        page: dict[str, Any] = self.get(path, limit=page_size, **parameters)
        first, rows = page, list(page[name])
        while page.get("next") is not None and (limit is None or len(rows) < limit):
            on_page(len(rows))
            page_size = PAGE_SIZE if limit is None else min(limit - len(rows), PAGE_SIZE)
            page = self.get(path, limit=page_size, cursor=_cursor(page["next"]), **parameters)
            rows += page[name]
        return {**first, name: rows, "next": page.get("next")}

    def text_pages(self, path: str, content_type: str, **parameters: Any) -> Iterator[str]:
        """Yield the pages of a list as text, all as of the position of the first one."""
        while True:
            query = without_none({"limit": PAGE_SIZE, **parameters})
            response = self._request("GET", path, params=query, headers={"Accept": content_type})
            yield response.text
            if "next" not in response.links:
                return
            parameters["as_of"] = response.headers["Labledger-Position"]
            parameters["cursor"] = _cursor(response.links["next"]["url"])

    def post(self, path: str, body: Any = None, *, key: str | None = None, **parameters: Any) -> Any:
        """Post a body. Requests with the same `key` take effect once (default: a new key for each call)."""
        headers = {IDEMPOTENCY_KEY: key or str(uuid.uuid4())}
        return self._send("POST", path, body, headers, params=without_none(parameters))

    def post_items(self, path: str, name: str, items: Sequence[Any], **parameters: Any) -> list[Any]:
        """Post a list with lenient handling; return the answer for each item.

        While the status of an item is temporary, the request is repeated as the retry policy says. If a
        repetition fails as a whole, these items keep their temporary status. Raises ServerProblem and
        Unreachable if the first request fails.
        """
        headers = {IDEMPOTENCY_KEY: str(uuid.uuid4()), PREFER: LENIENT}
        policy, tries, waited = self._transport.options.policy, 0, 0.0
        answers: list[Any] = []
        while True:
            try:
                answer = self._send("POST", path, {name: items}, headers, params=without_none(parameters))
            except (ServerProblem, Unreachable):
                if not answers:
                    raise
                return answers
            answers = answer[name]
            tries += 1
            temporary = [item for item in answers if item["status"] in TEMPORARY_STATUSES]
            if not temporary:
                return answers
            soonest = min(temporary, key=lambda item: item[RETRY_AFTER_SECONDS])
            pause = policy.after_refusal(str(soonest[RETRY_AFTER_SECONDS]), tries, waited)
            if pause is None:
                return answers
            waited += self._transport.wait(pause, problem_in(soonest, soonest["status"]), tries, waited)

    def post_text(self, path: str, content: bytes, content_type: str, **parameters: Any) -> Any:
        headers = {IDEMPOTENCY_KEY: str(uuid.uuid4()), "Content-Type": content_type}
        return self._call("POST", path, content=content, headers=headers, params=without_none(parameters))

    def put(self, path: str, body: Any, **parameters: Any) -> Any:
        return self._send("PUT", path, body, params=without_none(parameters))

    def edit(self, path: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        """Replace a resource by the result of `change`; repeat both if the resource has changed meanwhile."""
        for remaining in reversed(range(EDIT_ATTEMPTS)):
            response = self._request("GET", path)
            body = change(response.json())
            try:
                return self._send("PUT", path, body, {"If-Match": response.headers["ETag"]})
            except ServerProblem as problem:
                if problem.status != PRECONDITION_FAILED or not remaining:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def patch(self, path: str, body: Any) -> Any:
        return self._send("PATCH", path, body)

    def delete(self, path: str, **parameters: Any) -> Any:
        return self._call("DELETE", path, params=without_none(parameters))

    def log(self, after: int, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the events after a position, page by page up to the end of the log."""
        position: int | None = after
        while position is not None:
            page = self.get("/events", after=position, limit=PAGE_SIZE, **parameters)
            yield from page["events"]
            position = page["next"]

    def newest(self, path: str, name: str, id_field: str, count: int, **parameters: Any) -> list[Any]:
        """Return up to `count` newest rows of a list, oldest first; `id_field` has their order."""
        rows: list[Any] = []
        before: int | None = None
        while len(rows) < count:
            limit = min(count - len(rows), PAGE_SIZE)
            page = self.get(path, newest_first="true", before=before, limit=limit, **parameters)
            rows += page[name]
            before = page["next"]
            if before is None:
                break
        return sorted(rows, key=lambda row: row[id_field])

    def events(self, *, after: int | None = None, **parameters: Any) -> Iterator[ServerEvent]:
        """Yield events of the live log; after an interruption, continue after the last event."""
        return self._transport.follow("/events", {**parameters, "after": after})

    def _send(
        self, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None, **more: Any
    ) -> Any:
        return self._call(method, path, headers=headers, json={} if body is None else body, **more)

    def _call(self, method: str, path: str, **request: Any) -> Any:
        return _body(self._request(method, path, **request))

    def _request(self, method: str, path: str, **request: Any) -> httpx.Response:
        response = self._transport.request(method, path, request)
        if "Labledger-Position" in response.headers and method != "GET":
            self.position = int(response.headers["Labledger-Position"])
        return response


def _body(response: httpx.Response) -> Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise ServerProblem(
            response.status_code, "This is not a Labledger server", "its answer is not JSON"
        ) from None


def _cursor(next_path: str) -> str:
    (cursor,) = parse_qs(urlsplit(next_path).query)["cursor"]
    return cursor
