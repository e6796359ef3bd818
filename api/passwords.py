"""Hashing of passwords with argon2, a few at a time."""

from __future__ import annotations

import asyncio
import base64
import unicodedata
from collections.abc import Callable
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from domain.errors import TooOften

# A hash takes some 300 ms of a core and 64 MiB, so few run at once, and few wait.
AT_ONCE: Final = 2
WAITING: Final = 20
# Places for names without a password or with recent failures: a flood of guesses takes no others.
DOUBTFUL_AT_ONCE: Final = 1
DOUBTFUL_WAITING: Final = 10
BUSY_SECONDS: Final = 5

Done = TypeVar("Done")


class Hashing:
    """Hashing with the parameters that argon2-cffi recommends, which each hash contains."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._free = asyncio.Semaphore(AT_ONCE)
        self._under_way = 0
        self._free_for_doubtful = asyncio.Semaphore(DOUBTFUL_AT_ONCE)
        self._doubtful_under_way = 0
        # The hash of no password, so that a check without a password takes as long as any other.
        salt, digest = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (16, 32))
        costs = f"m={self._hasher.memory_cost},t={self._hasher.time_cost},p={self._hasher.parallelism}"
        self._nobodys = f"$argon2id$v=19${costs}${salt}${digest}"

    async def hashed(self, password: str) -> str:
        """Return the hash of a password. Raises TooOften if too many wait."""
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
    """Return the normalised text, which does not depend on how a keyboard composes accents."""
    return unicodedata.normalize("NFC", password).encode()
