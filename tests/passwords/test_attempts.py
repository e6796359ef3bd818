"""Bounds on attempts to log in, also over a moving window."""

from __future__ import annotations

import asyncio
from collections import Counter
from threading import Barrier, Event
from typing import Any

import pytest
from argon2 import PasswordHasher

from api.moving_window import MovingWindow
from api.password_attempts import MAX_FAILED_BY_ADDRESS, MAX_FAILED_BY_USER, MAX_WAITING, Attempts
from api.passwords import MAX_DOUBTFUL_QUEUED, MAX_DOUBTFUL_RUNNING, MAX_QUEUED, MAX_RUNNING, Hashing
from domain.errors import TooOften


async def tried(attempts: Attempts, user: str, address: str | None = None, *, is_right: bool = False) -> None:
    async with attempts.attempt(user, address) as attempt:
        await asyncio.sleep(0)
        attempt.has_failed = not is_right


def test_attempts__too_many_failures_within_a_minute__refused_with_a_retry_time() -> None:
    async def asked() -> None:
        attempts = Attempts()
        for _ in range(MAX_FAILED_BY_USER):
            await tried(attempts, "ada")
        with pytest.raises(TooOften) as refused:
            await tried(attempts, "ada", is_right=True)
        assert 1 <= refused.value.retry_after_seconds <= 60
        assert (attempts.failed_count("ada"), attempts.failed_count("bob")) == (MAX_FAILED_BY_USER, 0)
        await tried(attempts, "bob")

    asyncio.run(asked())


def test_attempts__concurrent_successes__wait_for_each_other_and_do_not_count() -> None:
    async def asked() -> None:
        attempts = Attempts()
        await tried(attempts, "ada")
        many = (tried(attempts, "ada", "10.0.0.1", is_right=True) for _ in range(MAX_WAITING))
        await asyncio.gather(*many)
        assert attempts.failed_count("ada") == 1

    asyncio.run(asked())


def test_attempts__concurrent_failures__no_more_than_the_limit() -> None:
    async def asked() -> list[BaseException | None]:
        attempts = Attempts()
        guesses = (tried(attempts, "ada") for _ in range(3 * MAX_FAILED_BY_USER))
        return await asyncio.gather(*guesses, return_exceptions=True)

    answers = asyncio.run(asked())
    assert Counter(map(type, answers)) == {type(None): MAX_FAILED_BY_USER, TooOften: 2 * MAX_FAILED_BY_USER}


def test_attempts__more_than_may_wait__refused_for_a_while() -> None:
    async def asked() -> list[BaseException | None]:
        attempts = Attempts()
        many = (tried(attempts, "ada", is_right=True) for _ in range(MAX_FAILED_BY_USER + MAX_WAITING + 1))
        return await asyncio.gather(*many, return_exceptions=True)

    types = Counter(map(type, asyncio.run(asked())))
    assert types == {type(None): MAX_FAILED_BY_USER + MAX_WAITING, TooOften: 1}


def test_attempts__many_names_from_one_address__refused_there_and_nowhere_else() -> None:
    async def asked() -> None:
        attempts = Attempts()
        for number in range(MAX_FAILED_BY_ADDRESS):
            await tried(attempts, f"user-{number}", "10.0.0.1")
        for _ in range(MAX_FAILED_BY_USER + 1):
            with pytest.raises(TooOften, match=f"^at most {MAX_FAILED_BY_ADDRESS} failed attempts"):
                await tried(attempts, "ada", "10.0.0.1")
        # An attempt that is refused for its address does not count for the name.
        assert attempts.failed_count("ada") == 0
        await tried(attempts, "ada", "10.0.0.2")

    asyncio.run(asked())


def test_attempts__a_success__does_not_reset_the_count_of_other_names() -> None:
    async def asked() -> None:
        attempts = Attempts()
        for number in range(MAX_FAILED_BY_ADDRESS - 1):
            await tried(attempts, f"user-{number}", "10.0.0.1")
        for _ in range(3):
            await tried(attempts, "mallory", "10.0.0.1", is_right=True)
        await tried(attempts, "ada", "10.0.0.1")
        with pytest.raises(TooOften):
            await tried(attempts, "bob", "10.0.0.1")

    asyncio.run(asked())


def test_hashing__flood_of_doubtful_attempts__leaves_places_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = Event()

    def slowly(_: object, hashed: str, __: bytes) -> bool:
        return hashed == "right" or released.wait(20)

    monkeypatch.setattr(PasswordHasher, "verify", slowly)

    async def asked() -> list[Any]:
        hashing = Hashing()
        flood = [
            asyncio.ensure_future(hashing.is_right("x", "wrong", is_doubtful=True))
            for _ in range(3 * MAX_QUEUED)
        ]
        await asyncio.sleep(0)
        assert [await hashing.is_right("x", "right") for _ in range(5)] == [True] * 5
        released.set()
        return await asyncio.gather(*flood, return_exceptions=True)

    places = MAX_DOUBTFUL_RUNNING + MAX_DOUBTFUL_QUEUED
    assert Counter(map(type, asyncio.run(asked()))) == {bool: places, TooOften: 3 * MAX_QUEUED - places}


def test_hashing__right_and_wrong_passwords__differ_and_an_unknown_name_has_none() -> None:
    async def asked() -> list[bool]:
        hashing = Hashing()
        hashed = await hashing.hashed("correct horse \u00e9")
        # A composed and a combining accent are the same password.
        given = ("correct horse \u00e9", "correct horse e\u0301", "correct horse e")
        found = [await hashing.is_right(password, hashed) for password in given]
        return [*found, await hashing.is_right("correct horse", None)]

    assert asyncio.run(asked()) == [True, True, False, False]


def test_hashing__hash_of_unknown_names__costs_as_much_as_any_other() -> None:
    """Check the parameters, which decide the time: it must not reveal whether a name exists."""
    hashing = Hashing()
    assert not PasswordHasher().check_needs_rehash(hashing._dummy_hash)


def test_hashing__two_at_once_and_a_few_waiting__more_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, together = 0, Barrier(MAX_RUNNING, timeout=20)

    def slowly(*_: object) -> bool:
        nonlocal begun
        begun += 1
        together.wait()
        return True

    hashing = Hashing()
    monkeypatch.setattr(PasswordHasher, "verify", slowly)

    async def asked() -> tuple[int, list[bool]]:
        tasks = [asyncio.create_task(hashing.is_right("x", "y")) for _ in range(MAX_RUNNING + MAX_QUEUED)]
        await asyncio.sleep(0)
        with pytest.raises(TooOften):
            await hashing.is_right("x", "y")
        return begun, await asyncio.gather(*tasks)

    at_first, answers = asyncio.run(asked())
    assert at_first <= MAX_RUNNING
    assert answers == [True] * (MAX_RUNNING + MAX_QUEUED)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_window__as_often_as_allowed__more_only_when_the_first_is_over() -> None:
    clock = Clock()
    window = MovingWindow(2, 60, clock=clock)
    assert window.take("ada") == 0
    clock.now = 20
    assert window.take("ada") == 0
    clock.now = 30
    assert window.take("ada") == 30
    # A refused call does not count.
    assert window.take("ada") == 30
    clock.now = 60
    assert window.take("ada") == 0
    assert window.take("ada") == 20


def test_window__given_back_or_cleared__counts_no_more() -> None:
    window = MovingWindow(1, 60, clock=Clock())
    for remove in (window.give_back, window.clear):
        assert window.take("ada") == 0
        remove("ada")
    assert len(window) == 0
    window.give_back("ada")


def test_window__many_keys_once_each__expired_keys_are_dropped() -> None:
    clock = Clock()
    window = MovingWindow(5, 60, clock=clock)
    for number in range(1000):
        clock.now = number
        window.take(f"user-{number}")
    assert len(window) == 60


def test_window__more_keys_than_the_maximum__drops_the_least_recent() -> None:
    window = MovingWindow(1, 60, max_keys=3, clock=Clock())
    for key in ("ada", "bob", "eve"):
        window.take(key)
    window.take("mallory")
    assert len(window) == 3
    assert window.take("bob") > 0
    assert window.take("ada") == 0
