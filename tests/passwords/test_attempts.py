"""How often a password may be guessed at, and how many are looked at together."""

from __future__ import annotations

import asyncio
from threading import Barrier

import pytest
from argon2 import PasswordHasher

from api.passwords import AT_ONCE, ATTEMPTS, ATTEMPTS_OF_ADDRESS, WAITING, Attempts, Hashing
from domain.errors import TooOften


def test_attempts__more_than_a_few_within_a_minute__refused_and_told_when_to_come_again() -> None:
    attempts = Attempts()
    for _ in range(ATTEMPTS):
        attempts.begin("ada")
    with pytest.raises(TooOften) as refused:
        attempts.begin("ada")
    assert 1 <= refused.value.retry_after_seconds <= 60
    attempts.begin("bob")


def test_attempts__successful_ones__do_not_count() -> None:
    attempts = Attempts()
    for _ in range(3 * ATTEMPTS):
        attempts.begin("ada")
        attempts.succeeded("ada")


def test_attempts__many_names_from_one_address__refused_there_and_nowhere_else() -> None:
    attempts = Attempts()
    for number in range(ATTEMPTS_OF_ADDRESS):
        attempts.begin(f"user-{number}", "10.0.0.1")
    for _ in range(ATTEMPTS + 1):
        with pytest.raises(TooOften, match=f"^{ATTEMPTS_OF_ADDRESS} attempts"):
            attempts.begin("ada", "10.0.0.1")
    # Who was refused for the address has not used up what the name has.
    for _ in range(ATTEMPTS):
        attempts.begin("ada", "10.0.0.2")


def test_attempts__one_that_succeeds__leaves_those_of_other_names_counted() -> None:
    attempts = Attempts()
    for number in range(ATTEMPTS_OF_ADDRESS - 1):
        attempts.begin(f"user-{number}", "10.0.0.1")
    for _ in range(3):
        attempts.begin("mallory", "10.0.0.1")
        attempts.succeeded("mallory", "10.0.0.1")
    attempts.begin("ada", "10.0.0.1")
    with pytest.raises(TooOften):
        attempts.begin("bob", "10.0.0.1")


def test_hashing__right_and_wrong__told_apart_and_nobodys_is_never_right() -> None:
    async def asked() -> list[bool]:
        hashing = Hashing()
        hashed = await hashing.hashed("correct horse \u00e9")
        # The accent composed or not is the same on a keyboard.
        given = ("correct horse \u00e9", "correct horse e\u0301", "correct horse e")
        found = [await hashing.is_right(password, hashed) for password in given]
        return [*found, await hashing.is_right("correct horse", None)]

    assert asyncio.run(asked()) == [True, True, False, False]


def test_hashing__nobodys_hash__costs_what_every_other_does() -> None:
    """An unknown name must not be told by how fast the answer comes: the parameters decide that."""
    hashing = Hashing()
    assert not PasswordHasher().check_needs_rehash(hashing._nobodys)


def test_hashing__two_at_once_and_a_few_waiting__more_are_turned_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, together = 0, Barrier(AT_ONCE, timeout=20)

    def slowly(*_: object) -> bool:
        nonlocal begun
        begun += 1
        together.wait()
        return True

    hashing = Hashing()
    monkeypatch.setattr(PasswordHasher, "verify", slowly)

    async def asked() -> tuple[int, list[bool]]:
        tasks = [asyncio.create_task(hashing.is_right("x", "y")) for _ in range(AT_ONCE + WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(TooOften):
            await hashing.is_right("x", "y")
        return begun, await asyncio.gather(*tasks)

    at_first, answers = asyncio.run(asked())
    assert at_first <= AT_ONCE
    assert answers == [True] * (AT_ONCE + WAITING)
