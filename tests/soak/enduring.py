"""A client that asks again until it is answered: the same request, key and all, at whichever door."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import httpx

from tests.harness.http_options import LOCAL_HTTP

# The service is there, but cannot do it now.
PASSING = (429, 503, 504)
ANSWER_SECONDS = 4.0
PAUSE_SECONDS = 0.2


class Enduring(httpx.BaseTransport):
    """`doors` are the ways to the service, tried in turn; `stop` ends all asking, with Stopped."""

    def __init__(self, doors: Sequence[str], stop: threading.Event) -> None:
        self._doors = itertools.cycle(map(httpx.URL, doors))
        self._stop = stop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = request.read()
        while True:
            door = next(self._doors)
            url = request.url.copy_with(host=door.host, port=door.port)
            try:
                # A connection of its own: one that was left open may lead nowhere by now.
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


# Of an answer as it came; what is handed on is unpacked.
ENCODED = ("content-encoding", "content-length", "transfer-encoding")


class Stopped(Exception):
    """It is told to go home."""
