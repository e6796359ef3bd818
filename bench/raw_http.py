"""Requests on connections that are kept open, as cheaply as can be: the machine is to serve, not to ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from urllib.parse import urlsplit


class Refused(Exception):
    """An answer that is no success; its status line and body."""


class Wire:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def connected(cls, url: str) -> Wire:
        parts = urlsplit(url)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer. Raises Refused."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        body = await self._reader.readexactly(_length(head))
        if head[9:10] != b"2":
            raise Refused(f"{head.splitlines()[0].decode()}: {body[:500].decode()}")
        return body

    def close(self) -> None:
        self._writer.close()


def request(method: str, path: str, token: str, body: bytes = b"", content_type: str = "") -> bytes:
    """The bytes of a request, made once and sent as often as one likes."""
    head = [f"{method} {path} HTTP/1.1", "Host: bench", f"Authorization: Bearer {token}"]
    if body:
        head += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


async def asked_for(url: str, clients: int, seconds: float, requests: Iterator[bytes]) -> list[float]:
    """So many clients ask one after the other for a time; how long each answer took, in seconds."""
    wires = [await Wire.connected(url) for _ in range(clients)]
    until, took = time.monotonic() + seconds, list[float]()

    async def keep_asking(wire: Wire) -> None:
        while (began := time.monotonic()) < until:
            await wire.ask(next(requests))
            took.append(time.monotonic() - began)

    try:
        await asyncio.gather(*map(keep_asking, wires))
    finally:
        for wire in wires:
            wire.close()
    return took


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
