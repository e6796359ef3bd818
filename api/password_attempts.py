"""Limits on failed attempts by name and by address, and on logins with an invalid body."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from api.amounts import Amounts
from api.moving_window import MovingWindow
from api.shared_numbers import UNSHARED, ReportedNumbers
from domain.errors import TooOften

# Failed attempts per minute. Several people may share an address.
MAX_FAILED_BY_USER: Final = 5
MAX_FAILED_BY_ADDRESS: Final = 30
# Logins per minute from an address. A login counts as faulty until its body has been validated.
MAX_FAULTY: Final = 100
WITHIN_SECONDS: Final = 60

# The maximum number of attempts that wait for the result of another, separately for names and addresses.
MAX_WAITING: Final = 100
BUSY_SECONDS: Final = 5
# Seconds between two checks of the attempts in other processes.
POLL_SECONDS: Final = 0.05


@dataclass
class Attempt:
    """One check of a password. It counts as failed unless the caller sets `has_failed` to False."""

    has_failed: bool = True


class Attempts:
    """Limit failed attempts by user and by address; for one event loop.

    An attempt takes a slot when it begins, and gives the slot back if it succeeds. While all slots are taken
    and an attempt is under way, the next attempt waits for its result. So any number of right passwords
    succeed, and no more wrong ones than there are slots. Names without a user count in the same way.
    """

    def __init__(self, shared: ReportedNumbers = UNSHARED) -> None:
        self._of_user = _Slots(MAX_FAILED_BY_USER, "attempts/user/", shared)
        self._of_address = _Slots(MAX_FAILED_BY_ADDRESS, "attempts/address/", shared)

    @asynccontextmanager
    async def attempt(self, user: str, address: str | None = None) -> AsyncIterator[Attempt]:
        """Yield an attempt that counts when the block ends; no `address` with a token. Raises TooOften."""
        needed = [(self._of_user, user)]
        if address is not None:
            needed.append((self._of_address, address))
        # An attempt that is refused for its address does not count for the name.
        attempt = Attempt(has_failed=False)
        async with AsyncExitStack() as stack:
            for slots, key in needed:
                await slots.take(key)
                stack.callback(slots.end, key, attempt)
            attempt.has_failed = True
            yield attempt

    def failed_count(self, user: str) -> int:
        """Return the number of failed attempts on a name within the last minute."""
        return self._of_user.failed_count(user)


class _Slots:
    """Slots by name or by address: those of attempts under way, and of failures within the last minute."""

    def __init__(self, amount: int, name: str, shared: ReportedNumbers) -> None:
        self._window = MovingWindow(amount, WITHIN_SECONDS, shared=shared, name=name)
        self._under_way = Amounts(f"{name}under-way/", shared)
        self._results: dict[str, asyncio.Future[None]] = {}
        self._waiting_count = 0

    def failed_count(self, key: str) -> int:
        return self._window.count(key) - self._under_way.of(key)

    async def take(self, key: str) -> None:
        """Take a slot, after waiting for attempts under way. Raises TooOften at the limit."""
        was_idle = False
        while seconds := self._begin(key):
            if self._under_way.own(key):
                was_idle = False
                await self._wait(key)
            elif self._under_way.of(key):
                was_idle = False
                await self._wait_for_others()
            elif was_idle:
                raise TooOften(f"at most {self._window.amount} failed attempts a minute are allowed", seconds)
            else:
                # Another process may have given its slot back since the window was asked: ask once more.
                was_idle = True

    def _begin(self, key: str) -> float:
        """Take a slot and return 0, or return the seconds to wait if there is none."""
        self._under_way.add(key, 1)
        seconds = self._window.take(key)
        if seconds:
            self._under_way.add(key, -1)
        return seconds

    async def _wait(self, key: str) -> None:
        """Wait for the next result of an attempt in this process."""
        with self._counted_wait():
            result = self._results.setdefault(key, asyncio.get_running_loop().create_future())
            # Several attempts may wait for this future, so a cancelled one must not cancel it.
            await asyncio.shield(result)

    async def _wait_for_others(self) -> None:
        """Wait some time for attempts in other processes."""
        with self._counted_wait():
            await asyncio.sleep(POLL_SECONDS)

    @contextmanager
    def _counted_wait(self) -> Iterator[None]:
        """Count an attempt that waits. Raises TooOften if MAX_WAITING ones do."""
        if self._waiting_count >= MAX_WAITING:
            raise TooOften("too many logins are waiting", BUSY_SECONDS)
        self._waiting_count += 1
        try:
            yield
        finally:
            self._waiting_count -= 1

    def end(self, key: str, attempt: Attempt) -> None:
        if not attempt.has_failed:
            self._window.give_back(key)
        self._under_way.add(key, -1)
        if (result := self._results.pop(key, None)) is not None:
            result.set_result(None)


class FaultyLogins:
    """Count logins whose body has not been found valid, by address. For one event loop."""

    def __init__(self, shared: ReportedNumbers = UNSHARED) -> None:
        self._window = MovingWindow(MAX_FAULTY, WITHIN_SECONDS, shared=shared, name="logins/faulty/")

    def begin(self, address: str) -> None:
        """Count a login. Raises TooOften after MAX_FAULTY logins without a valid body."""
        if seconds := self._window.take(address):
            raise TooOften(f"at most {MAX_FAULTY} logins without a valid body are allowed a minute", seconds)

    def confirm_valid(self, address: str) -> None:
        """Remove a login with a valid body from the count."""
        self._window.give_back(address)
