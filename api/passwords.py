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

# A hash takes some 300 ms of a core and 64 MiB, so few run at the same time, and few wait.
MAX_RUNNING: Final = 2
MAX_QUEUED: Final = 20
# The part of both limits for names without a password or with recent failures, so that a flood of guesses
# does not block other names.
MAX_DOUBTFUL_RUNNING: Final = 1
MAX_DOUBTFUL_QUEUED: Final = 10
BUSY_SECONDS: Final = 5

T = TypeVar("T")


class Hashing:
    """Hashing with the parameters that argon2-cffi recommends. Each hash contains its parameters."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._free = asyncio.Semaphore(MAX_RUNNING)
        self._under_way = 0
        self._free_for_doubtful = asyncio.Semaphore(MAX_DOUBTFUL_RUNNING)
        self._doubtful_under_way = 0
        # A hash that no password has: a check for a name without a password takes as long as any other.
        salt, digest = (base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (16, 32))
        costs = f"m={self._hasher.memory_cost},t={self._hasher.time_cost},p={self._hasher.parallelism}"
        self._dummy_hash = f"$argon2id$v=19${costs}${salt}${digest}"

    async def hashed(self, password: str) -> str:
        """Return the hash of a password. Raises TooOften if MAX_QUEUED others wait."""
        return await self._run(lambda: self._hasher.hash(_normalised(password)))

    async def is_right(self, password: str, hashed: str | None, *, is_doubtful: bool = False) -> bool:
        """Return whether the password matches the hash; without a hash, return False after as much time.

        Raises TooOften if too many wait. `is_doubtful`: the password is probably a guess.
        """

        def verify() -> bool:
            try:
                return self._hasher.verify(hashed or self._dummy_hash, _normalised(password))
            except VerificationError:
                return False

        if is_doubtful:
            return await self._run_doubtful(verify) and hashed is not None
        return await self._run(verify) and hashed is not None

    async def _run_doubtful(self, work: Callable[[], T]) -> T:
        if self._doubtful_under_way >= MAX_DOUBTFUL_RUNNING + MAX_DOUBTFUL_QUEUED:
            raise TooOften("too many passwords are being checked", BUSY_SECONDS)
        self._doubtful_under_way += 1
        try:
            async with self._free_for_doubtful:
                return await self._run(work)
        finally:
            self._doubtful_under_way -= 1

    async def _run(self, work: Callable[[], T]) -> T:
        if self._under_way >= MAX_RUNNING + MAX_QUEUED:
            raise TooOften("too many passwords are being checked", BUSY_SECONDS)
        self._under_way += 1
        try:
            async with self._free:
                return await asyncio.to_thread(work)
        finally:
            self._under_way -= 1


def _normalised(password: str) -> bytes:
    """Return the password in NFC, which does not depend on how a keyboard composes accents."""
    return unicodedata.normalize("NFC", password).encode()
