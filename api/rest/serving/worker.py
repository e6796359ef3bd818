"""gunicorn's ASGI worker with an extension of ASGI that ends a connection immediately.

ASGI's `send` waits for ever while the client does not read, and a closed connection stays open until its last
byte is read. Without the extension, connections of watchers that never read would accumulate.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from gunicorn.asgi import protocol as asgi_protocol  # type: ignore[import-untyped]
from gunicorn.workers.gasgi import ASGIWorker  # type: ignore[import-untyped]

from api.rest.serving.connections import Connections, reset
from api.rest.serving.loop import ServingLoop, throttled_accept_errors
from api.rest.serving.protocol import ClientTimeouts, TimeoutProtocol
from api.watching.capacity import allow_many_files

CONNECTION = "labledger.connection"
# The size of a stream's send buffer in the kernel, which doubles this value.
SEND_BUFFER_BYTES = 64 << 10
# The time after which a silent, vanished peer is detected.
SILENCE_SECONDS = 30

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class Worker(ASGIWorker):  # type: ignore[misc]
    asgi: Application
    connections: Connections
    timeouts: ClientTimeouts

    def init_process(self) -> None:
        allow_many_files()
        _add_reason_phrases()
        super().init_process()

    def _setup_event_loop(self) -> None:
        self.loop = ServingLoop()
        self.loop.protocol = partial(TimeoutProtocol, self)
        self.connections = Connections(self.loop)
        self.loop.set_exception_handler(throttled_accept_errors(self.connections))
        asyncio.set_event_loop(self.loop)

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self.timeouts = self.app.timeouts
        self.asgi = _with_connections(self.asgi)


class StreamConnection:
    """The connection of a stream."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    @property
    def is_closing(self) -> bool:
        """Return whether the connection is closed, or about to be."""
        return bool(self._transport.is_closing())

    def abort(self) -> None:
        reset(self._transport)

    def limit_buffers(self) -> None:
        """Use small buffers for a stream, and detect a vanished client."""
        # With a high-water mark of 0, the transport buffers at most one piece of a stream.
        self._transport.set_write_buffer_limits(high=0)
        sock = self._transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE_SECONDS * 1000)


def _add_reason_phrases() -> None:
    """Add the reason phrases of the statuses that gunicorn calls "Unknown"."""
    for status in HTTPStatus:
        asgi_protocol._REASON_PHRASES.setdefault(status.value, status.phrase)


def _with_connections(application: Application) -> Application:
    async def run_with_connection(scope: dict[str, Any], receive: Any, send: Any) -> None:
        # `receive` is a method of the body's receiver, which knows the protocol of its connection.
        protocol = getattr(getattr(receive, "__self__", None), "protocol", None)
        if scope["type"] == "http" and protocol is not None:
            scope.setdefault("extensions", {})[CONNECTION] = StreamConnection(protocol.transport)
            receive = read_on_demand(receive)
        await application(scope, receive, send)

    return run_with_connection


Receive = Callable[[], Awaitable[dict[str, Any]]]


def read_on_demand(receive: Receive) -> Receive:
    """Return a `receive` with an empty first message, because Falcon reads one before it routes a request.

    So a request that is too large, or not permitted, is refused before its body is read, and `100 Continue`
    is sent only when the body is read.
    """
    is_first = True

    async def receive_on_demand() -> dict[str, Any]:
        nonlocal is_first
        if not is_first:
            return await receive()
        is_first = False
        return {"type": "http.request", "body": b"", "more_body": True}

    return receive_on_demand
