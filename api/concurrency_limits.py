"""Limits on concurrent requests: their number, waiting reads, bytes of bodies, and parsers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from api.amounts import Amounts
from api.caller_slots import CallerSlots
from api.shared_numbers import UNSHARED, ReportedNumbers
from domain.errors import LabledgerError, TooOften
from runtime.locks import LockClass

RETRY_SECONDS: Final = 1
SHARE: Final = "labledger.share"

Asgi = Callable[[Any, Any, Any], Awaitable[None]]
T = TypeVar("T")


class Overloaded(LabledgerError):
    """This process is overloaded."""


@dataclass(frozen=True)
class ConcurrencyLimits:
    """Limits of a service, all but `body_bytes` per caller. Streams have those of `Broadcast` instead."""

    requests: int = 256
    waiting_reads: int = 64
    user_body_bytes: int = 32 << 20
    body_bytes: int = 128 << 20


@dataclass(frozen=True)
class MaxWaits:
    """The maximum waits of a request for a position and for a command."""

    position_wait_seconds: float = 5.0
    long_poll_seconds: float = 60.0


class ActiveRequests:
    """Counts of the requests under way, by caller. For one event loop."""

    def __init__(self, limits: ConcurrencyLimits | None = None, shared: ReportedNumbers = UNSHARED) -> None:
        self.max = limits or ConcurrencyLimits()
        self.requests = Amounts("requests/", shared)
        self.waiting_reads = Amounts("waiting-reads/", shared)
        self.body_bytes = Amounts("body-bytes/", shared)
        self.parsing = Parsing()
        self.matches = CallerSlots(LockClass.MATCHING)


class Share:
    """The part of the limits that one request uses: a slot, and the bytes of its body. Mutable."""

    def __init__(self, active: ActiveRequests) -> None:
        self._active = active
        self._caller: str | None = None
        self._has_slot = False
        self._body_bytes = Counter[str]()

    def enter(self, caller: str) -> None:
        """Take a slot for a request of a caller. Raises TooOften if the caller has the maximum."""
        if self._active.requests.of(caller) >= self._active.max.requests:
            raise TooOften(
                f"{caller} has {self._active.max.requests} requests under way, the maximum", RETRY_SECONDS
            )
        self._caller, self._has_slot = caller, True
        self._active.requests.add(caller, 1)

    def release_slot(self) -> None:
        """Give back the slot, because the request becomes a stream."""
        if self._has_slot and self._caller is not None:
            self._has_slot = False
            self._active.requests.add(self._caller, -1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a read that waits for a position. Raises TooOften if the caller has the maximum."""
        caller = self._caller or ""
        if self._active.waiting_reads.of(caller) >= self._active.max.waiting_reads:
            raise TooOften(
                f"{caller} has {self._active.max.waiting_reads} reads that wait for a position, the maximum",
                RETRY_SECONDS,
            )
        self._active.waiting_reads.add(caller, 1)
        try:
            yield
        finally:
            self._active.waiting_reads.add(caller, -1)

    def hold(self, size: int, address: str) -> None:
        """Count bytes of a body. Raises TooOften above the caller's limit, Overloaded above that of all."""
        caller = self._caller or address
        limits = self._active.max
        if self._active.body_bytes.of(caller) + size > limits.user_body_bytes:
            message = f"{caller} is sending more than {limits.user_body_bytes:,} bytes of bodies at once"
            raise TooOften(message, RETRY_SECONDS)
        if self._active.body_bytes.total() + size > limits.body_bytes:
            raise Overloaded(f"the service is receiving {limits.body_bytes:,} bytes of bodies, the maximum")
        self._active.body_bytes.add(caller, size)
        self._body_bytes[caller] += size

    def set_held(self, size: int, address: str) -> None:
        """Set the counted bytes of the body to `size`. Raises as `hold` does."""
        held = self._body_bytes.total()
        if size > held:
            self.hold(size - held, address)
            return
        for caller, count in list(self._body_bytes.items()):
            less = min(count, held - size)
            held -= less
            self._active.body_bytes.add(caller, -less)
            _subtract(self._body_bytes, caller, less)

    async def parse(self, address: str, size: int, parse: Callable[[], T]) -> T:
        return await self._active.parsing.run(self._caller or address, size, parse)

    def release(self) -> None:
        self.release_slot()
        for caller, size in self._body_bytes.items():
            self._active.body_bytes.add(caller, -size)
        self._body_bytes.clear()


def share_of(req: Any) -> Share:
    share: Share = req.scope[SHARE]
    return share


def with_concurrency_limits(application: Asgi, active: ActiveRequests) -> Asgi:
    """Return the application with a share for each request, which is released after any result or error."""

    async def run_with_share(scope: Any, receive: Any, send: Any) -> None:
        share = scope[SHARE] = Share(active)
        try:
            await application(scope, receive, send)
        finally:
            share.release()

    return run_with_share


def _subtract(counts: Counter[str], key: str, amount: int) -> None:
    counts[key] -= amount
    if not counts[key]:
        del counts[key]


# A shorter body takes at most a millisecond or two, so it is parsed in the event loop.
MIN_LONG_BYTES: Final = 16_384
# Few threads, because they share one interpreter with the event loop.
MAX_THREADS: Final = 2


class Parsing:
    """Run parsers of long bodies in threads; for one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_THREADS, "parsing")
        self._slots = CallerSlots(LockClass.PARSING)

    async def run(self, caller: str, size: int, parse: Callable[[], T]) -> T:
        """Return the result of `parse`, which is run in a thread if the body has MIN_LONG_BYTES or more."""
        if size < MIN_LONG_BYTES:
            return parse()
        # `Share.hold` limits the bytes of waiting bodies, so the wait needs no limit.
        async with self._slots.hold(caller, is_bounded=False):
            return await asyncio.get_running_loop().run_in_executor(self._threads, parse)
