"""A small HTTP server on loopback with scripted answers, which records the requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class ReceivedRequest:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """A scripted answer. With the status `HANG_UP` the connection is closed without an answer."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


HANG_UP = 0
Respond = Callable[[ReceivedRequest], Answer]


class LoopbackServer:
    """Answers by (method, path): a function, or a list that is used up to its last answer."""

    def __init__(self) -> None:
        self.asked: list[ReceivedRequest] = []
        self.routes: dict[tuple[str, str], Respond | list[Answer]] = {}
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}"

    def on(self, method: str, path: str, *answers: Answer | Respond) -> None:
        first = answers[0]
        self.routes[method, path] = list(answers) if isinstance(first, Answer) else first  # type: ignore[arg-type]

    def answer(self, asked: ReceivedRequest) -> Answer:
        self.asked.append(asked)
        route = self.routes.get((asked.method, asked.path))
        if route is None:
            return Answer({"title": "Not found", "detail": asked.path}, status=404)
        if callable(route):
            return route(asked)
        return route.pop(0) if len(route) > 1 else route[0]

    def asked_for(self, method: str, path: str) -> list[ReceivedRequest]:
        return [asked for asked in self.asked if (asked.method, asked.path) == (method, path)]


@contextmanager
def serving() -> Iterator[LoopbackServer]:
    made = LoopbackServer()
    thread = Thread(target=made.httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.httpd.shutdown()
        made.httpd.server_close()
        thread.join()


def _handler(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = ReceivedRequest(self.command, parts.path, parse_qs(parts.query), dict(self.headers), body)
            answer = server.answer(asked)
            self.close_connection = True
            if answer.status == HANG_UP:
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content())))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answer.content())

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

        def log_message(self, *args: Any) -> None:
            """Log nothing: the tests read the recorded requests."""

    return Handler


def sent_events(*events: dict[str, Any]) -> Answer:
    """Return the body of a stream of these events, after a comment as servers send to keep a connection."""
    blocks = [
        f"id: {event['position']}\nevent: {event['topic']}\ndata: {json.dumps(event)}\n\n" for event in events
    ]
    body = ": hello\n\n" + "".join(blocks)
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})
