"""Raw HTTP connections, which send exactly the given bytes, as no client library would."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.harness.running import Running
from tests.harness.waiting import wait_until

PATIENCE_SECONDS = 120.0
_ESTABLISHED = 1


@dataclass(frozen=True)
class Answer:
    status: int
    fields: dict[str, str]
    body: bytes

    def problem(self) -> Any:
        assert self.fields["content-type"] == "application/problem+json", self
        document = json.loads(self.body)
        assert document["status"] == self.status and document["title"] and document["detail"], document
        return document


class RawConnection:
    def __init__(self, service: Running, receive_bytes: int | None = None) -> None:
        self.host = service.url.partition("//")[2]
        self._socket = socket.socket()
        self._socket.settimeout(PATIENCE_SECONDS)
        if receive_bytes is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self._socket.connect(("127.0.0.1", service.port))
        self._received = b""

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send_head(self, request: str, *fields: str) -> None:
        """Send the head of a request."""
        self.send("\r\n".join([f"{request} HTTP/1.1", f"Host: {self.host}", *fields, "", ""]).encode())

    def read_answer(self) -> Answer:
        """Read the next answer."""
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, _, rest = self._received.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(fields.get("content-length", "0"))
        while len(rest) < length:
            self._receive()
            rest = self._received.partition(b"\r\n\r\n")[2]
        self._received = rest[length:]
        return Answer(int(first.split()[1]), fields, rest[:length])

    def read_until(self, end: bytes) -> bytes:
        """Return the next bytes up to an end, which they include."""
        while end not in self._received:
            self._receive()
        found, _, self._received = self._received.partition(end)
        return found + end

    def has_data(self) -> bool:
        return bool(self._received) or bool(select.select([self._socket], [], [], 0)[0])

    def is_open(self) -> bool:
        """Return whether the connection is open, as far as this side can see. Received bytes stay unread."""
        self._socket.setblocking(False)
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        finally:
            self._socket.settimeout(PATIENCE_SECONDS)

    def wait_closed(self) -> None:
        """Wait until the server closes the connection, without reading received bytes."""
        wait_until(lambda: self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED)

    def read_to_end(self) -> bytes:
        """Return all bytes until the server closes the connection."""
        try:
            while data := self._socket.recv(1 << 16):
                self._received += data
        except ConnectionError:
            pass
        return self._received

    def _receive(self) -> None:
        data = self._socket.recv(1 << 16)
        assert data, f"the connection ended after {self._received!r}"
        self._received += data


@dataclass
class RawConnections:
    """The raw connections of one test."""

    service: Running
    made: list[RawConnection] = field(default_factory=list)

    def open(self, receive_bytes: int | None = None) -> RawConnection:
        self.made.append(RawConnection(self.service, receive_bytes))
        return self.made[-1]


@contextmanager
def raw_connections(service: Running) -> Iterator[RawConnections]:
    connections = RawConnections(service)
    try:
        yield connections
    finally:
        for one in connections.made:
            one.close()
