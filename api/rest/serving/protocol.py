"""gunicorn's HTTP protocol with timeouts, against idle, slow or hostile clients.

gunicorn waits for the rest of a request for ever, and accepts as many clients as there are file descriptors.
Here each connection knows which side it waits for, and since when; if the client takes too long, the
connection is closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol  # type: ignore[import-untyped]

from api.rest.serving.abort import reset
from api.rest.serving.connections import Connections
from api.rest.serving.refusal import refusal
from api.rest.serving.timeouts import PROGRESS_BYTES, ClientTimeouts, Phase

# The bound on a whole head: with bounds on lines and their number only, many clients could fill the memory.
MAX_HEAD_BYTES = 64 << 10


class TimeoutProtocol(ASGIProtocol):  # type: ignore[misc]
    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._connections: Connections = worker.connections
        self._timeouts: ClientTimeouts = worker.timeouts
        self._now = worker.loop.time
        self._phase = Phase.HEAD
        self._since: float = self._now()
        # When the phase began.
        self._bytes = 0
        self._closed = False
        self._unsent_bytes = 0
        self._unsent_since: float = self._since

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if not self._connections.enter(self):
            self._refuse(503, "too many connections; try again later")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._connections.leave(self)
        # Otherwise a connection between requests would be kept for seconds.
        self._request_ready.set()

    def data_received(self, data: bytes) -> None:
        if self._phase is not Phase.PARTING:
            super().data_received(data)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._connections.awaits(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unsent_bytes = 0
        if self._phase is Phase.ANSWER:
            self._connections.answers(self)

    def abort(self) -> None:
        self._connections.leave(self)
        if self.transport.get_write_buffer_size():
            reset(self.transport)
        else:
            self.transport.abort()

    def check(self, now: float) -> None:
        if self._takes_nothing(now):
            self.abort()
        elif now - self._since > self._timeouts.seconds(self._phase):
            self._overdue(now)

    def _overdue(self, now: float) -> None:
        seconds = f"{self._timeouts.request_seconds:g} s"
        if self._phase is Phase.PARTING:
            # The rest of the answer has its own timeout.
            if not self.transport.get_write_buffer_size():
                self.abort()
        elif self._phase is Phase.BODY:
            if self._body_receiver._waiter is None:
                # The application has not read the body yet.
                self._since = now
            else:
                self._refuse(408, f"the body of the request made no progress within {seconds}")
        elif self._phase is Phase.HEAD and self._bytes:
            self._refuse(408, f"the head of the request was not complete within {seconds}")
        else:
            self._close_transport()
            self._request_ready.set()

    def _takes_nothing(self, now: float) -> bool:
        size = self.transport.get_write_buffer_size()
        if not size or size <= self._unsent_bytes - PROGRESS_BYTES or not self._unsent_bytes:
            self._unsent_bytes, self._unsent_since = size, now
        self._unsent_bytes = max(self._unsent_bytes, size)
        return now - self._unsent_since > self._timeouts.request_seconds

    def _turn(self, phase: Phase) -> None:
        self._phase, self._since, self._bytes = phase, self._now(), 0
        if phase is Phase.ANSWER:
            self._connections.answers(self)
        else:
            self._connections.awaits(self)

    def _feed_callback_parser(self, data: bytes) -> bool:
        if self._current_request is None and self._phase is not Phase.HEAD:
            self._turn(Phase.HEAD)
        if self._phase is Phase.HEAD:
            self._bytes += len(data)
        goes_on: bool = super()._feed_callback_parser(data)
        if goes_on and self._phase is Phase.HEAD and self._bytes > MAX_HEAD_BYTES:
            self._refuse(431, f"the head of a request must not have more than {MAX_HEAD_BYTES} bytes")
            return False
        return goes_on

    def _on_headers_complete(self) -> bool:
        is_without_body: bool = super()._on_headers_complete()
        self._turn(Phase.BODY)
        return is_without_body

    def _on_body(self, chunk: bytes) -> None:
        super()._on_body(chunk)
        self._bytes += len(chunk)
        if self._bytes >= PROGRESS_BYTES:
            self._turn(Phase.BODY)

    def _on_message_complete(self) -> None:
        super()._on_message_complete()
        self._turn(Phase.ANSWER)

    def _arm_keepalive_timer(self) -> None:
        """Begin to wait for the next request. `check` checks the timeout, so requests need no timer."""
        if self._phase is Phase.ANSWER:
            self._turn(Phase.IDLE)

    def _will_close(self, request: Any, response_requires_close: bool) -> bool:
        """Return whether the answer closes the connection, as one before the end of the body does."""
        receiver = self._body_receiver
        is_early = receiver is not None and not receiver._complete
        return is_early or bool(super()._will_close(request, response_requires_close))

    def _refuse(self, status: int, detail: str) -> None:
        self._send_error_response(status, detail)
        self._close_transport()
        self._request_ready.set()

    def _send_error_response(self, status: int, message: str, extra_headers: Iterable[Any] = ()) -> None:
        """Send an error as a problem, also those of gunicorn itself about a bad head."""
        self._safe_write(refusal(status, message, extra_headers))

    def _close_transport(self) -> None:
        """Close the connection, later if the client still sends: a reset would discard the answer."""
        if self._closed or self.transport is None:
            return
        is_sending = self._phase in (Phase.HEAD, Phase.BODY)
        self._turn(Phase.PARTING)
        if not is_sending:
            super()._close_transport()
            return
        self._connections.closes(self)
        self._closed = True
        self._resume_reading()
        if not self.transport.is_closing():
            # The client may have reset the connection meanwhile.
            with suppress(OSError):
                self.transport.write_eof()
