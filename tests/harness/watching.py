"""Watchers of /events in one event loop: plain connections, so that two thousand of them are cheap."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from api import database_setup
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import Running
from tests.harness.waiting import wait_until

_ID = re.compile(rb"^id: (\d+)$", re.MULTILINE)
_ESTABLISHED = 1
PATIENCE_SECONDS = 120.0


@contextmanager
def serving(database: TestDatabase, **settings: str) -> Iterator[Running]:
    """Start the API alone, with these LABLEDGER_* variables: only the test appends to the log."""
    token = database_setup.first_admin_token(database.settings)
    assert token is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    # All watchers have the token of one user.
    service = Running(database, url, token, settings={"LABLEDGER_REQUESTS_PER_SECOND": "0", **settings})
    try:
        service.start("serve")
        wait_until(lambda: _is_alive(url), "the API to answer")
        yield service
    finally:
        service.stop()


@dataclass(frozen=True)
class Worker:
    """The worker process of `serve`."""

    pid: int

    def memory_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    def files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def cpu_seconds(self) -> float:
        ticks = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def limit_files(self, maximum: int) -> None:
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (maximum, maximum))


def worker_of(service: Running) -> Worker:
    master = service.processes["serve"].pid
    return Worker(int(Path(f"/proc/{master}/task/{master}/children").read_text().split()[0]))


def _is_alive(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=5, **LOCAL_HTTP).status_code == 200
    except httpx.TransportError:
        return False


class Watch(asyncio.Protocol):
    """A connection to /events: the positions of the events received, and the position to resume from."""

    def __init__(self, service: Running, after: int, **filters: str) -> None:
        self.after = after
        self.filters = filters
        self.positions: list[int] = []
        self.last_id = after
        self.head = b""
        # Whether the answer is complete, and whether the connection has ended.
        self.is_complete = False
        self.is_over = False
        self.error: Exception | None = None
        self.transport: asyncio.Transport | None = None
        query = f"?{urlencode(filters)}" if filters else ""
        self._request = (
            f"GET /events{query} HTTP/1.1\r\nHost: {service.url.partition('//')[2]}\r\n"
            f"Authorization: Bearer {service.token}\r\nAccept: text/event-stream\r\n"
            f"Last-Event-ID: {after}\r\n\r\n"
        ).encode()
        self._framed = bytearray()
        self._text = bytearray()
        self._news = asyncio.Event()

    @property
    def status(self) -> int:
        return int(self.head.split(b" ", 2)[1]) if self.head else 0

    @property
    def retry_after_seconds(self) -> int:
        """Return the value of the Retry-After header."""
        said = re.search(rb"^retry-after: (\d+)\r?$", self.head, re.MULTILINE | re.IGNORECASE)
        assert said is not None, self.head
        return int(said[1])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._framed += data
        if not self.head:
            head, found, rest = self._framed.partition(b"\r\n\r\n")
            if not found:
                return
            self.head, self._framed = bytes(head), rest
        self._unframe()
        self._read()
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over, self.error = True, exc
        self._news.set()

    @property
    def is_cut(self) -> bool:
        assert self.transport is not None
        if self.is_over:
            return True
        connection = self.transport.get_extra_info("socket")
        return int(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]) != _ESTABLISHED

    def stop_reading(self) -> None:
        assert self.transport is not None
        self.transport.pause_reading()

    def go_on_reading(self) -> None:
        assert self.transport is not None
        self.transport.resume_reading()

    def close(self) -> None:
        """Drop the connection without notice, as clients do."""
        if self.transport is not None:
            self.transport.abort()

    async def wait_until(self, condition: Callable[[Watch], bool]) -> None:
        """Wait for a condition, checked whenever data arrive."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition(self):
                self._news.clear()
                await self._news.wait()

    async def wait_seen(self, position: int) -> None:
        await self.wait_until(lambda watch: watch.last_id >= position or watch.is_over)
        assert not self.is_over, f"ended at {self.last_id}: {self.error}"

    async def wait_seen_all(self, positions: list[int]) -> None:
        """Wait for the last of these positions; the test checks that exactly these were received."""
        if positions:
            await self.wait_seen(positions[-1])

    async def wait_cut(self) -> None:
        """Wait until the server ends the connection, even if this side does not read."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not self.is_cut:
                await asyncio.sleep(0.1)

    async def wait_over(self) -> None:
        await self.wait_until(lambda watch: watch.is_over)

    def _unframe(self) -> None:
        """Decode the received chunks to text."""
        start = 0
        while (end := self._framed.find(b"\r\n", start)) >= 0:
            length = int(self._framed[start:end], 16)
            self.is_complete = length == 0
            if len(self._framed) < end + 2 + length + 2:
                break
            self._text += self._framed[end + 2 : end + 2 + length]
            start = end + 2 + length + 2
        del self._framed[:start]

    def _read(self) -> None:
        whole = self._text.rfind(b"\n\n")
        if whole < 0:
            return
        for text in bytes(self._text[:whole]).split(b"\n\n"):
            if found := _ID.search(text):
                self.last_id = int(found[1])
                if b"\ndata: " in text:
                    self.positions.append(self.last_id)
        del self._text[: whole + 2]


class Watching:
    """The watches of one test; `async with` closes them all."""

    def __init__(self, service: Running) -> None:
        self._service = service
        self._watches: list[Watch] = []

    async def __aenter__(self) -> Watching:
        return self

    async def __aexit__(self, *error: object) -> None:
        for one in self._watches:
            one.close()
        for one in self._watches:
            await one.wait_over()

    async def watch(self, after: int = 0, receive_bytes: int | None = None, **filters: str) -> Watch:
        """Begin to watch; return when the head of the answer has arrived."""
        made = Watch(self._service, after, **filters)
        connection = socket.socket()
        connection.setblocking(False)
        if receive_bytes is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, ("127.0.0.1", self._service.port))
        await loop.create_connection(lambda: made, sock=connection)
        self._watches.append(made)
        await made.wait_until(lambda one: bool(one.head) or one.is_over)
        return made


def plain_client(service: Running) -> httpx.Client:
    """Return a client for large answers, which are neither compressed nor checked against `/openapi.json`."""
    headers = {"Authorization": f"Bearer {service.token}", "Accept-Encoding": "identity"}
    return httpx.Client(base_url=service.url, headers=headers, timeout=60, **LOCAL_HTTP)


def whole_log(service: Running) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: int | None = 0
    with plain_client(service) as client:
        while after is not None:
            page = client.get("/events", params={"after": after, "limit": 1000}).json()
            found, after = found + page["events"], page["next"]
    return found


def expected_positions(whole: Iterable[dict[str, Any]], one: Watch) -> list[int]:
    """Return the positions that a watch should receive, selected from the whole log."""
    topics = one.filters["types"].split(",") if "types" in one.filters else None
    subjects = one.filters["subject"].split(",") if "subject" in one.filters else None
    return [
        event["position"]
        for event in whole
        if event["position"] > one.after
        and (topics is None or event["topic"] in topics)
        and (subjects is None or {event["subject"], event["subject"].split("/")[0] + "/*"} & {*subjects})
    ]
