"""The way to one server: a request is repeated until it is answered, a stream goes on where it broke off."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from api.client.listener import require_listener
from api.client.problems import Problem, Unreachable, problem_of
from api.client.retry_policy import PASSING, PERSISTENT, Patience
from api.client.stream import ServerEvent, messages

ANSWER_SECONDS = 30.0
# A stream without even a comment for so long has lost its server; it is resumed, so nothing is missed.
SILENCE_SECONDS = 60.0
# Between a stream that its server ended in good order and the next.
RESUME_SECONDS = 1.0
# The listener of a URL of this machine is looked up again after this time, and after every failure.
LISTENER_SECONDS = 1.0
# Who waits longer than that is told why, once.
WORTH_SAYING_SECONDS = 1.0
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Parameter = str | int | list[str]
Parameters = Mapping[str, Parameter | None]


@dataclass(frozen=True)
class Manner:
    """How a server is asked: how long each time and how often, and with which headers beside what each call
    needs; `say` hears why it takes longer.
    """

    patience: Patience = field(default_factory=Patience)
    sleep: Callable[[float], None] = time.sleep
    answer_seconds: float = ANSWER_SECONDS
    say: Callable[[str], None] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # The user whose process must listen at a URL of this machine; None: not known.
    server_uid: int | None = None


class Transport:
    def __init__(self, url: str, token: str | None, manner: Manner) -> None:
        self.url = url.rstrip("/")
        self.manner = manner
        self._listener_known_until = 0.0
        self._http = httpx.Client(
            base_url=self.url,
            headers={**manner.headers, **({"Authorization": f"Bearer {token}"} if token else {})},
            timeout=manner.answer_seconds,
            # A proxy of the environment is no way to this machine.
            trust_env=httpx.URL(self.url).host not in LOOPBACK,
            # Without TLS nothing needs the certificates, and reading them takes longer than to ask.
            verify=httpx.URL(self.url).scheme != "http",
        )

    def close(self) -> None:
        self._http.close()

    def answered(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        """The answer, which is no error. Raises Problem or Unreachable."""
        answer = self._persevere(method, path, request)
        if answer.is_error:
            raise problem_of(answer)
        return answer

    def _persevere(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        """Repeat the same request, key and all, until it is answered or patience ends."""
        failed, waited, patience = 0, 0.0, self.manner.patience
        while True:
            failed += 1
            self._require_server()
            try:
                answer = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                asked = patience.after_failure(failed, waited)
                waited += self._wait(asked, self._lost(error), failed, waited)
            else:
                if answer.status_code not in PASSING:
                    return answer
                asked = patience.after_refusal(answer.headers.get("Retry-After"), failed, waited)
                waited += self._wait(asked, problem_of(answer), failed, waited)

    def follow(self, path: str, parameters: Parameters) -> Iterator[ServerEvent]:
        """A stream without end. Who has followed it once means to sit out a restart of the server."""
        last_id, failed, waited, patience = "", 0, 0.0, self.manner.patience
        while True:
            try:
                for event in self._stream(path, last_id, parameters):
                    failed, waited, patience = 0, 0.0, PERSISTENT
                    if event is not None:
                        last_id = event.id or last_id
                        yield event
                self.manner.sleep(RESUME_SECONDS)
            except httpx.TransportError as error:
                failed += 1
                asked = patience.after_refusal(None, failed, waited)
                waited += self._wait(asked, self._lost(error), failed, waited)

    def _stream(self, path: str, last_id: str, parameters: Parameters) -> Iterator[ServerEvent | None]:
        """None once it is there, then its events."""
        headers = {"Accept": "text/event-stream"}
        if last_id:
            headers["Last-Event-ID"] = last_id
            parameters = {**parameters, "after": None}
        self._require_server()
        timeout = httpx.Timeout(self.manner.answer_seconds, read=SILENCE_SECONDS)
        asked = {"params": given(parameters), "headers": headers, "timeout": timeout}
        with self._http.stream("GET", path, **asked) as answer:  # type: ignore[arg-type]
            if answer.status_code in PASSING:
                raise httpx.ConnectError(f"{answer.status_code} {answer.reason_phrase}")
            if answer.is_error:
                answer.read()
                raise problem_of(answer)
            yield None
            yield from messages(answer.iter_lines())

    def _require_server(self) -> None:
        """Raises NotTheServer before a token goes to a process of another user that has taken the port."""
        url, uid = httpx.URL(self.url), self.manner.server_uid
        if uid is None or url.host not in LOOPBACK or time.monotonic() < self._listener_known_until:
            return
        require_listener(self.url, url.port or 80, uid)
        self._listener_known_until = time.monotonic() + LISTENER_SECONDS

    def _lost(self, error: Exception) -> Unreachable:
        self._listener_known_until = 0.0
        return Unreachable(self.url, str(error) or type(error).__name__)

    def _wait(
        self, pause: float | None, otherwise: Problem | Unreachable, tries: int, waited_seconds: float
    ) -> float:
        """Until the next attempt; without any the error, which then tells how often it was tried."""
        if pause is None:
            otherwise.tries, otherwise.waited_seconds = tries, waited_seconds
            raise otherwise
        if self.manner.say and waited_seconds < WORTH_SAYING_SECONDS <= waited_seconds + pause:
            self.manner.say(f"{otherwise}; asking again")
        self.manner.sleep(pause)
        return pause


def given(parameters: Parameters) -> dict[str, Parameter]:
    return {name: value for name, value in parameters.items() if value is not None}
