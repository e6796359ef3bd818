"""Bounds on concurrent requests: their number, waiting reads, and the bytes of bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from api.caller_slots import CallerSlots
from api.parsing import Parsing
from domain.errors import LabledgerError, TooOften

RETRY_SECONDS: Final = 1
SHARE: Final = "labledger.share"

Asgi = Callable[[Any, Any, Any], Awaitable[None]]
T = TypeVar("T")


class Overloaded(LabledgerError):
    """This process is overloaded."""


@dataclass(frozen=True)
class MaxUnderWay:
    """The bounds of one process. `user_body_bytes` holds for the bodies of one caller.

    Streams are bounded elsewhere: they leave their place when they begin.
    """

    requests: int = 256
    waiting_reads: int = 64
    user_body_bytes: int = 32 << 20
    body_bytes: int = 128 << 20


@dataclass(frozen=True)
class Bounds:
    """The maximum waits of a request: for a position, and for a command."""

    position_wait_seconds: float = 5.0
    long_poll_seconds: float = 60.0


class UnderWay:
    """The requests under way in one process, by caller. For one event loop."""

    def __init__(self, limits: MaxUnderWay | None = None) -> None:
        self.max = limits or MaxUnderWay()
        self.requests = Counter[str]()
        self.waiting_reads = Counter[str]()
        self.body_bytes = Counter[str]()
        self.parsing = Parsing()
        self.matches = CallerSlots()


class Share:
    """The share of one request: its place, its wait and the bytes of its body. Mutable.

    `release` gives back all of it.
    """

    def __init__(self, under_way: UnderWay) -> None:
        self._all = under_way
        self._caller: str | None = None
        self._has_place = False
        self._held = Counter[str]()

    def enter(self, caller: str) -> None:
        """Take a place among the requests of a caller. Raises TooOften if all are taken."""
        if self._all.requests[caller] >= self._all.max.requests:
            raise TooOften(
                f"{caller} has {self._all.max.requests} requests under way, the maximum", RETRY_SECONDS
            )
        self._caller, self._has_place = caller, True
        self._all.requests[caller] += 1

    def leave_place(self) -> None:
        """Give back the place, because the request becomes a stream."""
        if self._has_place and self._caller is not None:
            self._has_place = False
            _subtract(self._all.requests, self._caller, 1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a read that waits for a position. Raises TooOften above the bound of its caller."""
        caller = self._caller or ""
        if self._all.waiting_reads[caller] >= self._all.max.waiting_reads:
            message = (
                f"{caller} has {self._all.max.waiting_reads} reads that wait for a position, the maximum"
            )
            raise TooOften(message, RETRY_SECONDS)
        self._all.waiting_reads[caller] += 1
        try:
            yield
        finally:
            _subtract(self._all.waiting_reads, caller, 1)

    def hold(self, size: int, stranger: str) -> None:
        """Count bytes of the body. Raises TooOften above the caller's bound, Overloaded above that of all.

        `stranger` is the address of an unauthenticated caller, under which the bytes are counted.
        """
        caller = self._caller or stranger
        limits = self._all.max
        if self._all.body_bytes[caller] + size > limits.user_body_bytes:
            message = f"{caller} is sending more than {limits.user_body_bytes:,} bytes of bodies at once"
            raise TooOften(message, RETRY_SECONDS)
        if self._all.body_bytes.total() + size > limits.body_bytes:
            raise Overloaded(f"this process is receiving {limits.body_bytes:,} bytes of bodies, the maximum")
        self._all.body_bytes[caller] += size
        self._held[caller] += size

    async def parse(self, stranger: str, size: int, parse: Callable[[], T]) -> T:
        """Return what `parse` makes of a body of this size."""
        return await self._all.parsing.run(self._caller or stranger, size, parse)

    def release(self) -> None:
        self.leave_place()
        for caller, size in self._held.items():
            _subtract(self._all.body_bytes, caller, size)
        self._held.clear()


def share_of(req: Any) -> Share:
    """Return the share of an HTTP request."""
    found: Share = req.scope[SHARE]
    return found


def counting(application: Asgi, under_way: UnderWay) -> Asgi:
    """Return the application with a share for each request, which is released however the request ends."""

    async def called(scope: Any, receive: Any, send: Any) -> None:
        share = scope[SHARE] = Share(under_way)
        try:
            await application(scope, receive, send)
        finally:
            share.release()

    return called


def _subtract(counts: Counter[str], key: str, amount: int) -> None:
    counts[key] -= amount
    if not counts[key]:
        del counts[key]
