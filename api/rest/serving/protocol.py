"""gunicorn's HTTP protocol with timeouts for idle, slow or hostile clients.

gunicorn waits for the rest of a request for ever; `check` closes connections whose phase lasts too long.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus
from typing import Any

import orjson
from gunicorn.asgi.protocol import ASGIProtocol  # type: ignore[import-untyped]

from api.headers import PROBLEM
from api.rest.problems import RETRY_SECONDS, problem
from api.rest.serving.connections import Connections, reset

# The request timeout starts again after this many bytes of a body or answer.
PROGRESS_BYTES = 64 << 10
# The time in which a client that is still sending can read its answer, before the connection is reset.
CLOSING_SECONDS = 2.0
# gunicorn limits lines and their number only, so the heads of many clients could fill the memory.
MAX_HEAD_BYTES = 64 << 10


class Phase(Enum):
    # Waiting for a request, or the rest of its head.
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    # Between requests.
    IDLE = auto()
    # The last answer was sent; further input is ignored.
    CLOSING = auto()


@dataclass(frozen=True)
class ClientTimeouts:
    request_seconds: float
    keepalive_seconds: float

    def seconds(self, phase: Phase) -> float:
        """Return the maximum time of a phase without progress."""
        match phase:
            case Phase.HEAD | Phase.BODY:
                return self.request_seconds
            case Phase.IDLE:
                return self.keepalive_seconds
            case Phase.CLOSING:
                return CLOSING_SECONDS
            case Phase.ANSWER:
                return float("inf")


class TimeoutProtocol(ASGIProtocol):  # type: ignore[misc]
    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._connections: Connections = worker.connections
        self._timeouts: ClientTimeouts = worker.timeouts
        self._now = worker.loop.time
        self._phase = Phase.HEAD
        self._phase_began: float = self._now()
        # Bytes received in the phase.
        self._phase_bytes = 0
        self._closed = False
        # Whether the head of the answer to the present request was sent.
        self._has_begun_answer = False
        self._unsent_bytes = 0
        self._unsent_since: float = self._phase_began

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if not self._connections.enter(self):
            self._refuse(503, "too many connections; try again later")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._connections.leave(self)
        # Without it, gunicorn would keep a connection between requests for seconds.
        self._request_ready.set()

    def data_received(self, data: bytes) -> None:
        if self._phase is not Phase.CLOSING:
            super().data_received(data)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._connections.wait_for_client(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unsent_bytes = 0
        if self._phase is Phase.ANSWER:
            self._connections.wait_for_server(self)

    def abort(self) -> None:
        self._connections.leave(self)
        if self.transport.get_write_buffer_size():
            reset(self.transport)
        else:
            self.transport.abort()

    def check(self, now: float) -> None:
        if self._stopped_reading(now):
            self.abort()
        elif now - self._phase_began > self._timeouts.seconds(self._phase):
            self._end_overdue_phase(now)

    def _end_overdue_phase(self, now: float) -> None:
        seconds = f"{self._timeouts.request_seconds:g} s"
        if self._phase is Phase.CLOSING:
            # `_stopped_reading` has the timeout for unsent bytes.
            if not self.transport.get_write_buffer_size():
                self.abort()
        elif self._phase is Phase.BODY:
            if self._body_receiver._waiter is None:
                # The application has not read the body yet.
                self._phase_began = now
            else:
                self._refuse(408, f"the body of the request made no progress within {seconds}")
        elif self._phase is Phase.HEAD and self._phase_bytes:
            self._refuse(408, f"the head of the request was not complete within {seconds}")
        else:
            self._close_transport()
            self._request_ready.set()

    def _stopped_reading(self, now: float) -> bool:
        """Return whether the client has read too little for too long; update the measurement."""
        size = self.transport.get_write_buffer_size()
        if not size or size <= self._unsent_bytes - PROGRESS_BYTES or not self._unsent_bytes:
            self._unsent_bytes, self._unsent_since = size, now
        self._unsent_bytes = max(self._unsent_bytes, size)
        return now - self._unsent_since > self._timeouts.request_seconds

    def _enter(self, phase: Phase) -> None:
        self._phase, self._phase_began, self._phase_bytes = phase, self._now(), 0
        if phase is Phase.ANSWER:
            self._connections.wait_for_server(self)
        else:
            self._connections.wait_for_client(self)

    def _feed_callback_parser(self, data: bytes) -> bool:
        if self._current_request is None and self._phase is not Phase.HEAD:
            self._enter(Phase.HEAD)
            self._has_begun_answer = False
        if self._phase is Phase.HEAD:
            self._phase_bytes += len(data)
        may_continue: bool = super()._feed_callback_parser(data)
        if may_continue and self._phase is Phase.HEAD and self._phase_bytes > MAX_HEAD_BYTES:
            self._refuse(431, f"the head of a request must not have more than {MAX_HEAD_BYTES} bytes")
            return False
        return may_continue

    def _send_response_start(self, *arguments: Any, **more: Any) -> None:
        self._has_begun_answer = True
        super()._send_response_start(*arguments, **more)

    def _send_body(self, *arguments: Any, **more: Any) -> None:
        super()._send_body(*arguments, **more)
        if self._phase is Phase.BODY:
            # A part of an answer that is sent while the body arrives is progress.
            self._enter(Phase.BODY)

    def _on_headers_complete(self) -> bool:
        is_without_body: bool = super()._on_headers_complete()
        self._enter(Phase.BODY)
        return is_without_body

    def _on_body(self, chunk: bytes) -> None:
        super()._on_body(chunk)
        self._phase_bytes += len(chunk)
        if self._phase_bytes >= PROGRESS_BYTES:
            self._enter(Phase.BODY)

    def _on_message_complete(self) -> None:
        super()._on_message_complete()
        self._enter(Phase.ANSWER)

    def _arm_keepalive_timer(self) -> None:
        """Enter the phase between requests, without gunicorn's timer, because `check` has the timeout."""
        if self._phase is Phase.ANSWER:
            self._enter(Phase.IDLE)

    def _will_close(self, request: Any, response_requires_close: bool) -> bool:
        """Return whether to close after the answer, also if the body has not arrived completely."""
        receiver = self._body_receiver
        is_early = receiver is not None and not receiver._complete
        return is_early or bool(super()._will_close(request, response_requires_close))

    def _refuse(self, status: int, detail: str) -> None:
        self._send_error_response(status, detail)
        self._close_transport()
        self._request_ready.set()

    def _send_error_response(self, status: int, message: str, extra_headers: Iterable[Any] = ()) -> None:
        """Send an error as a problem. gunicorn calls this, too, for a malformed head or body.

        Nothing is sent after the head of an answer, because it would be a part of that answer.
        """
        if not self._has_begun_answer:
            self._safe_write(refusal(status, message, extra_headers))

    def _close_transport(self) -> None:
        """Close the connection, later if the client is still sending: a reset would discard the answer."""
        if self._closed or self.transport is None:
            return
        is_sending = self._phase in (Phase.HEAD, Phase.BODY)
        self._enter(Phase.CLOSING)
        if not is_sending:
            super()._close_transport()
            return
        self._connections.begin_close(self)
        self._closed = True
        self._resume_reading()
        if not self.transport.is_closing():
            # The client may have reset the connection meanwhile.
            with suppress(OSError):
                self.transport.write_eof()


def refusal(status: int, detail: str, extra: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return the bytes of an error answer that closes the connection."""
    phrase = HTTPStatus(status).phrase
    body = orjson.dumps(problem(status, detail or phrase))
    fields = [("Content-Type", PROBLEM), ("Content-Length", str(len(body))), ("Connection", "close"), *extra]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        fields.append(("Retry-After", str(RETRY_SECONDS)))
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
