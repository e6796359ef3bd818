"""Passwords are hashed with argon2, a few at a time, and may be guessed at a few times a minute."""

from __future__ import annotations

import asyncio
import base64
import math
import unicodedata
from collections.abc import Callable
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from api.moving_window import MovingWindow
from domain.errors import TooOften

# One takes some 300 ms of a core and 64 MiB, so few are under way at once, and not many more wait.
AT_ONCE: Final = 2
WAITING: Final = 20
BUSY_SECONDS: Final = 5

# A minute, for each name; and for each address, behind which there may be several people.
ATTEMPTS: Final = 5
ATTEMPTS_OF_ADDRESS: Final = 30
WITHIN_SECONDS: Final = 60

Done = TypeVar("Done")


class Hashing:
    """With the parameters that argon2-cffi recommends; each hash carries those it was made with."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._free = asyncio.Semaphore(AT_ONCE)
        self._under_way = 0
        # Nobody's: no password has it, and finding that out takes as long as with any other.
        salt, digest = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (16, 32))
        costs = f"m={self._hasher.memory_cost},t={self._hasher.time_cost},p={self._hasher.parallelism}"
        self._nobodys = f"$argon2id$v=19${costs}${salt}${digest}"

    async def hashed(self, password: str) -> str:
        """Raises TooOften while too many wait."""
        return await self._run(lambda: self._hasher.hash(_written(password)))

    async def is_right(self, password: str, hashed: str | None) -> bool:
        """Whether it is the password of a hash; without one it is not, as slowly. Raises TooOften."""

        def verified() -> bool:
            try:
                return self._hasher.verify(hashed or self._nobodys, _written(password))
            except VerificationError:
                return False

        return await self._run(verified) and hashed is not None

    async def _run(self, work: Callable[[], Done]) -> Done:
        if self._under_way >= AT_ONCE + WAITING:
            raise TooOften("too many passwords are being checked", BUSY_SECONDS)
        self._under_way += 1
        try:
            async with self._free:
                return await asyncio.to_thread(work)
        finally:
            self._under_way -= 1


def _written(password: str) -> bytes:
    """The same on every keyboard, whatever way it composes an accent."""
    return unicodedata.normalize("NFC", password).encode()


class Attempts:
    """Attempts by user, and by address, that have not succeeded, in this process.

    Each counts from its beginning: many at once are many. Names that nobody has count the same.
    """

    def __init__(self) -> None:
        self._of_user = MovingWindow(ATTEMPTS, WITHIN_SECONDS)
        self._of_address = MovingWindow(ATTEMPTS_OF_ADDRESS, WITHIN_SECONDS)

    def begin(self, user: str, address: str | None = None) -> None:
        """Raises TooOften after enough of them within a minute. Without an address: by who is in already."""
        _take(self._of_user, user)
        if address is not None:
            try:
                _take(self._of_address, address)
            except TooOften:
                # Who is refused for where they come from has not tried this name.
                self._of_user.give_back(user)
                raise

    def succeeded(self, user: str, address: str | None = None) -> None:
        """Whoever tried, it was the user; other names tried from the same address count on."""
        self._of_user.clear(user)
        if address is not None:
            self._of_address.give_back(address)

    def withdraw(self, user: str, address: str | None = None) -> None:
        """Nobody has looked whether it was right."""
        self._of_user.give_back(user)
        if address is not None:
            self._of_address.give_back(address)


def _take(window: MovingWindow, key: str) -> None:
    if seconds := window.take(key):
        raise TooOften(f"{window.amount} attempts a minute are the most", max(1, math.ceil(seconds)))
