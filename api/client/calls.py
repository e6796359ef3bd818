"""The calls a client can make. Every one may be repeated: reads and PUTs by nature, POSTs by their key."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import httpx

from api.client.patience import PASSING, PERSISTENT, Patience
from api.client.problems import Problem, Unreachable, problem_of
from api.client.stream import ServerEvent, messages

ANSWER_SECONDS = 30.0
# A stream without even a comment for so long has lost its server; it is resumed, so nothing is missed.
SILENCE_SECONDS = 60.0
# Between a stream that its server ended in good order and the next.
RESUME_SECONDS = 1.0
# Who waits longer than that is told why, once.
WORTH_SAYING_SECONDS = 1.0
# The most rows a server gives at once.
PAGE = 1000
STALE = 412
EDIT_ATTEMPTS = 5
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Parameter = str | int | list[str]
Parameters = Mapping[str, Parameter | None]


class Client:
    """One server, as one user. Not for several threads at once: it remembers the last `position` written."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
        answer_seconds: float = ANSWER_SECONDS,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.position: int | None = None
        self._token = token
        self._patience = patience or Patience()
        self._sleep = sleep
        self._answer_seconds = answer_seconds
        self._say = say
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=answer_seconds,
            # A proxy of the environment is no way to this machine.
            trust_env=httpx.URL(self.url).host not in LOOPBACK,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def another(self, patience: Patience | None = None) -> Client:
        """The same server and user, for another thread, or with another patience."""
        return Client(
            self.url,
            self._token,
            patience=patience or self._patience,
            sleep=self._sleep,
            answer_seconds=self._answer_seconds,
            say=self._say,
        )

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
        timeout = self._answer_seconds + (wait_seconds or 0)
        return self._call("GET", path, params=_given(query), timeout=timeout)

    def get_text(self, path: str, content_type: str, **parameters: Any) -> str:
        """Read something in another form than JSON."""
        return self._answered("GET", path, params=_given(parameters), headers={"Accept": content_type}).text

    def pages(self, path: str, name: str, *, limit: int | None = None, **parameters: Any) -> dict[str, Any]:
        """A list with its further pages joined, up to `limit` rows of `name`."""
        most = PAGE if limit is None else min(limit, PAGE)
        page: dict[str, Any] = self.get(path, limit=most, **parameters)
        first, rows = page, list(page[name])
        while page.get("next") is not None and (limit is None or len(rows) < limit):
            most = PAGE if limit is None else min(limit - len(rows), PAGE)
            page = self.get(path, limit=most, cursor=_cursor(page["next"]), **parameters)
            rows += page[name]
        return {**first, name: rows, "next": page.get("next")}

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """`key` makes repetitions one request; a new one is made for every call that brings none."""
        return self._send("POST", path, body, {"Idempotency-Key": key or str(uuid.uuid4())})

    def post_text(self, path: str, content: bytes, content_type: str) -> Any:
        headers = {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": content_type}
        return self._call("POST", path, content=content, headers=headers)

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

    def events(
        self, path: str = "/events", *, after: int | None = None, **parameters: Any
    ) -> Iterator[ServerEvent]:
        """The live stream; after an interruption it goes on behind the last event seen.

        Who has followed it once means to sit out a restart of the server.
        """
        last_id, failed, waited, patience = "", 0, 0.0, self._patience
        while True:
            try:
                for event in self._stream(path, last_id, {**parameters, "after": after}):
                    failed, waited, patience = 0, 0.0, PERSISTENT
                    if event is not None:
                        last_id = event.id or last_id
                        yield event
                pause = RESUME_SECONDS
            except httpx.TransportError as error:
                failed += 1
                asked = patience.after_refusal(None, failed, waited)
                pause = self._again(asked, self._lost(error), failed, waited)
            waited += pause
            self._sleep(pause)

    def _stream(self, path: str, last_id: str, parameters: Parameters) -> Iterator[ServerEvent | None]:
        """None once it is there, then its events."""
        headers = {"Accept": "text/event-stream"}
        if last_id:
            headers["Last-Event-ID"] = last_id
            parameters = {**parameters, "after": None}
        with self._http.stream(
            "GET",
            path,
            params=_given(parameters),
            headers=headers,
            timeout=httpx.Timeout(ANSWER_SECONDS, read=SILENCE_SECONDS),
        ) as answer:
            if answer.status_code in PASSING:
                raise httpx.ConnectError(f"{answer.status_code} {answer.reason_phrase}")
            if answer.is_error:
                answer.read()
                raise problem_of(answer)
            yield None
            yield from messages(answer.iter_lines())

    def _send(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        return self._call(method, path, headers=headers, json={} if body is None else body)

    def _call(self, method: str, path: str, **request: Any) -> Any:
        return _body(self._answered(method, path, **request))

    def _answered(self, method: str, path: str, **request: Any) -> httpx.Response:
        answer = self._persevere(method, path, request)
        if answer.is_error:
            raise problem_of(answer)
        if "Labledger-Position" in answer.headers and method != "GET":
            self.position = int(answer.headers["Labledger-Position"])
        return answer

    def _persevere(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        """Repeat the same request, key and all, until it is answered or patience ends."""
        failed, waited = 0, 0.0
        while True:
            failed += 1
            try:
                answer = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                asked = self._patience.after_failure(failed, waited)
                pause = self._again(asked, self._lost(error), failed, waited)
            else:
                if answer.status_code not in PASSING:
                    return answer
                asked = self._patience.after_refusal(answer.headers.get("Retry-After"), failed, waited)
                pause = self._again(asked, problem_of(answer), failed, waited)
            waited += pause
            self._sleep(pause)

    def _lost(self, error: Exception) -> Unreachable:
        return Unreachable(self.url, str(error) or type(error).__name__)

    def _again(
        self, pause: float | None, otherwise: Problem | Unreachable, tries: int, waited_seconds: float
    ) -> float:
        """Seconds until the next attempt; without any the error, which then tells how often it was tried."""
        if pause is None:
            otherwise.tries, otherwise.waited_seconds = tries, waited_seconds
            raise otherwise
        if self._say and waited_seconds < WORTH_SAYING_SECONDS <= waited_seconds + pause:
            self._say(f"{otherwise}; asking again")
        return pause


def _given(parameters: Parameters) -> dict[str, Parameter]:
    return {name: value for name, value in parameters.items() if value is not None}


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
