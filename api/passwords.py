"""Passwords are hashed with argon2, a few at a time."""

from __future__ import annotations

import asyncio
import base64
import unicodedata
from collections.abc import Callable
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from domain.errors import TooOften

# One takes some 300 ms of a core and 64 MiB, so few are under way at once, and not many more wait.
AT_ONCE: Final = 2
WAITING: Final = 20
# Of these, places for names that have no password, or failed lately: a flood of guesses takes no others.
DOUBTFUL_AT_ONCE: Final = 1
DOUBTFUL_WAITING: Final = 10
BUSY_SECONDS: Final = 5

Done = TypeVar("Done")


class Hashing:
    """With the parameters that argon2-cffi recommends; each hash carries those it was made with."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._free = asyncio.Semaphore(AT_ONCE)
        self._under_way = 0
        self._free_for_doubtful = asyncio.Semaphore(DOUBTFUL_AT_ONCE)
        self._doubtful_under_way = 0
        # Nobody's: no password has it, and finding that out takes as long as with any other.
        salt, digest = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (16, 32))
        costs = f"m={self._hasher.memory_cost},t={self._hasher.time_cost},p={self._hasher.parallelism}"
        self._nobodys = f"$argon2id$v=19${costs}${salt}${digest}"

    async def hashed(self, password: str) -> str:
        """Raises TooOften while too many wait."""
        return await self._run(lambda: self._hasher.hash(_written(password)))

    async def is_right(self, password: str, hashed: str | None, *, is_doubtful: bool = False) -> bool:
        """Return whether the password matches a hash. Without a hash return False after as much time.

        Raises TooOften. `is_doubtful`: the password is probably a guess, and takes one of the places for
        these.
        """

        def verified() -> bool:
            try:
                return self._hasher.verify(hashed or self._nobodys, _written(password))
            except VerificationError:
                return False

        if is_doubtful:
            return await self._run_doubtful(verified) and hashed is not None
        return await self._run(verified) and hashed is not None

    async def _run_doubtful(self, work: Callable[[], Done]) -> Done:
        if self._doubtful_under_way >= DOUBTFUL_AT_ONCE + DOUBTFUL_WAITING:
            raise TooOften("too many passwords are being checked", BUSY_SECONDS)
        self._doubtful_under_way += 1
        try:
            async with self._free_for_doubtful:
                return await self._run(work)
        finally:
            self._doubtful_under_way -= 1

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
