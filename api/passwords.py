"""Hashing of passwords with argon2, a few at a time."""

from __future__ import annotations

import asyncio
import base64
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from domain.errors import TooOften
from runtime.locks import LockClass

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
        self._queue = _HashQueue(LockClass.PASSWORDS, MAX_RUNNING, MAX_QUEUED)
        self._doubtful_queue = _HashQueue(
            LockClass.DOUBTFUL_PASSWORDS, MAX_DOUBTFUL_RUNNING, MAX_DOUBTFUL_QUEUED
        )
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

        async with self._doubtful_queue.slot() if is_doubtful else nullcontext():
            return await self._run(verify) and hashed is not None

    async def _run(self, work: Callable[[], T]) -> T:
        async with self._queue.slot():
            return await asyncio.to_thread(work)


class _HashQueue:
    def __init__(self, lock_class: LockClass, max_running: int, max_queued: int) -> None:
        self._free = lock_class.task_semaphore(max_running)
        self._max_count = max_running + max_queued
        self._count = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        if self._count >= self._max_count:
            raise TooOften("too many passwords are being checked", BUSY_SECONDS)
        self._count += 1
        try:
            async with self._free:
                yield
        finally:
            self._count -= 1


def _normalised(password: str) -> bytes:
    """Return the password in NFC, which does not depend on how a keyboard composes accents."""
    return unicodedata.normalize("NFC", password).encode()
