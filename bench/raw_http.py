"""HTTP requests on persistent connections, with minimal cost for the client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from urllib.parse import urlsplit


class RequestFailed(Exception):
    """The response is no success; the message has its status line and body."""


class BenchConnection:
    """One connection, for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def connected(cls, url: str) -> BenchConnection:
        parts = urlsplit(url)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    async def send(self, request: bytes) -> bytes:
        """Send a request and return the body of the response. Raises RequestFailed."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        body = await self._reader.readexactly(_length(head))
        if head[9:10] != b"2":
            raise RequestFailed(f"{head.splitlines()[0].decode()}: {body[:500].decode()}")
        return body

    def close(self) -> None:
        self._writer.close()


def request(method: str, path: str, token: str, body: bytes = b"", content_type: str = "") -> bytes:
    """Return the bytes of a request, which can be sent any number of times."""
    head = [f"{method} {path} HTTP/1.1", "Host: bench", f"Authorization: Bearer {token}"]
    if body:
        head += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


async def request_times(url: str, clients: int, seconds: float, requests: Iterator[bytes]) -> list[float]:
    """Send requests from concurrent clients, one at a time each, and return the seconds of each answer."""
    connections = [await BenchConnection.connected(url) for _ in range(clients)]
    until, took = time.monotonic() + seconds, list[float]()

    async def keep_sending(connection: BenchConnection) -> None:
        while (began := time.monotonic()) < until:
            await connection.send(next(requests))
            took.append(time.monotonic() - began)

    try:
        await asyncio.gather(*map(keep_sending, connections))
    finally:
        for connection in connections:
            connection.close()
    return took


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
