"""A client that repeats a request with the same key, at each of several addresses, until it is answered."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import httpx

from tests.harness.http_options import LOCAL_HTTP

# The service is up, but temporarily cannot answer.
PASSING = (429, 503, 504)
ANSWER_SECONDS = 4.0
PAUSE_SECONDS = 0.2


class RetryingTransport(httpx.BaseTransport):
    """An HTTP transport that retries.

    `doors` are base URLs, tried in turn; `stop` ends all retries with Stopped.
    """

    def __init__(self, doors: Sequence[str], stop: threading.Event) -> None:
        self._doors = itertools.cycle(map(httpx.URL, doors))
        self._stop = stop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = request.read()
        while True:
            door = next(self._doors)
            url = request.url.copy_with(host=door.host, port=door.port)
            try:
                # A new connection each time: an old one may lead nowhere.
                with httpx.Client(timeout=ANSWER_SECONDS, **LOCAL_HTTP) as client:
                    answer = client.request(request.method, url, headers=request.headers, content=body)
            except httpx.TransportError:
                pass
            else:
                if answer.status_code not in PASSING:
                    kept = [(name, value) for name, value in answer.headers.items() if name not in ENCODED]
                    return httpx.Response(answer.status_code, headers=kept, content=answer.content)
            if self._stop.wait(PAUSE_SECONDS):
                raise Stopped


# Headers of the encoded answer; the decoded body is passed on.
ENCODED = ("content-encoding", "content-length", "transfer-encoding")


class Stopped(Exception):
    """The client was stopped."""
