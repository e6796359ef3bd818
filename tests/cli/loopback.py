"""A small real server on loopback, told what to answer; it remembers what it was asked."""

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
class Asked:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """`HANG_UP` as status: the connection is closed without a word."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


HANG_UP = 0
Respond = Callable[[Asked], Answer]


class Server:
    """Answers for (method, path): a function, or a list taken one by one whose last stays."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.routes: dict[tuple[str, str], Respond | list[Answer]] = {}
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}"

    def on(self, method: str, path: str, *answers: Answer | Respond) -> None:
        first = answers[0]
        self.routes[method, path] = list(answers) if isinstance(first, Answer) else first  # type: ignore[arg-type]

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        route = self.routes.get((asked.method, asked.path))
        if route is None:
            return Answer({"title": "Not found", "detail": asked.path}, status=404)
        if callable(route):
            return route(asked)
        return route.pop(0) if len(route) > 1 else route[0]

    def asked_for(self, method: str, path: str) -> list[Asked]:
        return [asked for asked in self.asked if (asked.method, asked.path) == (method, path)]


@contextmanager
def serving() -> Iterator[Server]:
    made = Server()
    thread = Thread(target=made.httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.httpd.shutdown()
        made.httpd.server_close()
        thread.join()


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Asked(self.command, parts.path, parse_qs(parts.query), dict(self.headers), body)
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
            """Said by the assertions instead."""

    return Handler


def sent_events(*events: dict[str, Any]) -> Answer:
    """A stream with these events that ends; a comment in front, as servers send to keep a line."""
    blocks = [
        f"id: {event['position']}\nevent: {event['topic']}\ndata: {json.dumps(event)}\n\n" for event in events
    ]
    body = ": hello\n\n" + "".join(blocks)
    return Answer(body.encode(), headers={"Content-Type": "text/event-stream"})
