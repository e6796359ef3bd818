"""HTTP requests to one server with retries, and event streams that resume after an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from api.client.listener import require_listener
from api.client.problems import ServerProblem, Unreachable, problem_of
from api.client.retry_policy import PERSISTENT, TEMPORARY_STATUSES, RetryPolicy
from api.client.stream import ServerEvent, messages

ANSWER_SECONDS = 30.0
# A stream that has received nothing for this time, not even a ping, is resumed.
SILENCE_SECONDS = 60.0
# The pause before a stream that the server has ended is resumed.
RESUME_SECONDS = 1.0
# The listener of a loopback URL is checked again after this time, and after every failure.
LISTENER_SECONDS = 1.0
# The reason for a wait of this length or more is reported once.
MIN_REPORTED_SECONDS = 1.0
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Parameter = str | int | list[str]
Parameters = Mapping[str, Parameter | None]


@dataclass(frozen=True)
class RequestOptions:
    """Options of all requests of a client. `on_wait` is called with the reason for a long wait."""

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Callable[[float], None] = time.sleep
    answer_seconds: float = ANSWER_SECONDS
    on_wait: Callable[[str], None] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # The user id of the process that must listen at a loopback URL; None: do not check.
    server_uid: int | None = None


class Transport:
    def __init__(self, url: str, token: str | None, options: RequestOptions) -> None:
        self.url = url.rstrip("/")
        self.options = options
        self._listener_checked_until = 0.0
        self._http = httpx.Client(
            base_url=self.url,
            headers={**options.headers, **({"Authorization": f"Bearer {token}"} if token else {})},
            timeout=options.answer_seconds,
            # A proxy cannot reach this machine.
            trust_env=httpx.URL(self.url).host not in LOOPBACK,
            # Without TLS no certificates are needed, and reading them takes longer than a request.
            verify=httpx.URL(self.url).scheme != "http",
        )

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        """Return a successful response. Raises ServerProblem or Unreachable."""
        response = self._send(method, path, request)
        if response.is_error:
            raise problem_of(response)
        return response

    def _send(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        """Send the request, and repeat it with the same Idempotency-Key as the retry policy says."""
        failed, waited, policy = 0, 0.0, self.options.policy
        while True:
            failed += 1
            self._require_server()
            try:
                response = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                pause = policy.after_failure(failed, waited)
                waited += self.wait(pause, self._unreachable(error), failed, waited)
            else:
                if response.status_code not in TEMPORARY_STATUSES:
                    return response
                pause = policy.after_refusal(response.headers.get("Retry-After"), failed, waited)
                waited += self.wait(pause, problem_of(response), failed, waited)

    def follow(self, path: str, parameters: Parameters) -> Iterator[ServerEvent]:
        """Yield the events of an endless stream. After its begin, retry for as long as a restart may take."""
        last_id, failed, waited, policy = "", 0, 0.0, self.options.policy
        while True:
            try:
                for event in self._stream(path, last_id, parameters):
                    failed, waited, policy = 0, 0.0, PERSISTENT
                    if event is not None:
                        last_id = event.id or last_id
                        yield event
                self.options.sleep(RESUME_SECONDS)
            except httpx.TransportError as error:
                failed += 1
                pause = policy.after_refusal(None, failed, waited)
                waited += self.wait(pause, self._unreachable(error), failed, waited)

    def _stream(self, path: str, last_id: str, parameters: Parameters) -> Iterator[ServerEvent | None]:
        """Yield None when the stream has begun, then its events."""
        headers = {"Accept": "text/event-stream"}
        if last_id:
            headers["Last-Event-ID"] = last_id
            parameters = {**parameters, "after": None}
        self._require_server()
        timeout = httpx.Timeout(self.options.answer_seconds, read=SILENCE_SECONDS)
        request = {"params": without_none(parameters), "headers": headers, "timeout": timeout}
        with self._http.stream("GET", path, **request) as response:  # type: ignore[arg-type]
            if response.status_code in TEMPORARY_STATUSES:
                raise httpx.ConnectError(f"{response.status_code} {response.reason_phrase}")
            if response.is_error:
                response.read()
                raise problem_of(response)
            yield None
            yield from messages(response.iter_lines())

    def _require_server(self) -> None:
        """Raise NotTheServer if a process of another user listens on the port: it must not get the token."""
        url, uid = httpx.URL(self.url), self.options.server_uid
        if uid is None or url.host not in LOOPBACK or time.monotonic() < self._listener_checked_until:
            return
        require_listener(self.url, url.port or 80, uid)
        self._listener_checked_until = time.monotonic() + LISTENER_SECONDS

    def _unreachable(self, error: Exception) -> Unreachable:
        self._listener_checked_until = 0.0
        return Unreachable(self.url, str(error) or type(error).__name__)

    def wait(
        self, pause: float | None, error: ServerProblem | Unreachable, tries: int, waited_seconds: float
    ) -> float:
        """Wait before the next attempt. If `pause` is None, raise the error with the number of attempts."""
        if pause is None:
            error.tries, error.waited_seconds = tries, waited_seconds
            raise error
        if self.options.on_wait and waited_seconds < MIN_REPORTED_SECONDS <= waited_seconds + pause:
            self.options.on_wait(f"{error}; retrying")
        self.options.sleep(pause)
        return pause


def without_none(parameters: Parameters) -> dict[str, Parameter]:
    return {name: value for name, value in parameters.items() if value is not None}
