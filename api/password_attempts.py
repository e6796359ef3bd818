"""Bounds on password guesses: failed attempts by name and by address, in this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from api.moving_window import MovingWindow
from domain.errors import TooOften

# Per minute, for each name and for each address, which several people may share.
ATTEMPTS: Final = 5
ATTEMPTS_OF_ADDRESS: Final = 30
WITHIN_SECONDS: Final = 60

# The maximum number of attempts that wait for others, for all names together.
MAX_WAITING: Final = 100
BUSY_SECONDS: Final = 5


@dataclass
class Attempt:
    """One check of a password. It counts as failed unless its caller says otherwise."""

    has_failed: bool = True


class Attempts:
    """Bound failed attempts by user and by address; for one event loop.

    An attempt takes a place when it begins, so concurrent guesses count one by one. When it succeeds it
    gives the place back. When all places are taken by attempts that are still under way, the next attempt
    waits for their result. So any number of right passwords succeed, and wrong ones are limited to
    the number of places. Names without a user count equally.
    """

    def __init__(self) -> None:
        self._of_user = _Places(ATTEMPTS)
        self._of_address = _Places(ATTEMPTS_OF_ADDRESS)

    @asynccontextmanager
    async def attempt(self, user: str, address: str | None = None) -> AsyncIterator[Attempt]:
        """Yield an attempt whose result counts when the block ends.

        Raise TooOften after enough failures within a minute. Without an address the caller has a token.
        """
        wanted = [(self._of_user, user)]
        if address is not None:
            wanted.append((self._of_address, address))
        # An attempt that is refused for its address does not count for the name.
        made = Attempt(has_failed=False)
        async with AsyncExitStack() as stack:
            for places, key in wanted:
                await places.take(key)
                stack.callback(places.end, key, made)
            made.has_failed = True
            yield made

    def failed_count(self, user: str) -> int:
        """Return how many attempts on a name have failed within a minute."""
        return self._of_user.failed_count(user)


class _Places:
    """Places for attempts by name or by address: those under way, and the failures of the last minute."""

    def __init__(self, amount: int) -> None:
        self._window = MovingWindow(amount, WITHIN_SECONDS)
        self._under_way = Counter[str]()
        self._ended: dict[str, asyncio.Future[None]] = {}
        self._waiting_count = 0

    def failed_count(self, key: str) -> int:
        return self._window.count(key) - self._under_way[key]

    async def take(self, key: str) -> None:
        """Take a place, or wait until an attempt under way has its result. Raise TooOften."""
        while seconds := self._window.take(key):
            if not self._under_way[key]:
                raise TooOften(f"at most {self._window.amount} failed attempts a minute are allowed", seconds)
            await self._wait(key)
        self._under_way[key] += 1

    async def _wait(self, key: str) -> None:
        if self._waiting_count >= MAX_WAITING:
            raise TooOften("too many logins are waiting", BUSY_SECONDS)
        ended = self._ended.setdefault(key, asyncio.get_running_loop().create_future())
        self._waiting_count += 1
        try:
            # Wait for an attempt under way; others may wait for it too.
            await asyncio.shield(ended)
        finally:
            self._waiting_count -= 1

    def end(self, key: str, attempt: Attempt) -> None:
        self._under_way[key] -= 1
        if not self._under_way[key]:
            del self._under_way[key]
        if not attempt.has_failed:
            self._window.give_back(key)
        if (ended := self._ended.pop(key, None)) is not None:
            ended.set_result(None)
