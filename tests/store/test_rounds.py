"""What comes in the rounds of a loop goes on together, and nobody waits long for more."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import pytest

from api.store.rounds import MOST_SECONDS, QUIET_ROUNDS, QUIET_SECONDS, Rounds


class Loop:
    """An event loop by hand: each of its rounds takes as long as it is told to."""

    def __init__(self) -> None:
        self._soon: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def call_soon(self, call: Callable[..., None], *args: Any) -> None:
        self._soon.append((call, args))

    def round(self, seconds: float = 0.0) -> None:
        self._now += seconds
        for _ in range(len(self._soon)):
            call, args = self._soon.popleft()
            call(*args)


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def handed() -> list[list[int]]:
    return []


@pytest.fixture
def add(loop: Loop, handed: list[list[int]]) -> Callable[[int], None]:
    rounds: Rounds[int] = Rounds(handed.append)
    return lambda item: rounds.add(cast(AbstractEventLoop, loop), item)


def test_add__more_comes_before_it_is_quiet__goes_on_together(
    loop: Loop, handed: list[list[int]], add: Callable[[int], None]
) -> None:
    for item in range(3):
        add(item)
        for _ in range(QUIET_ROUNDS):
            loop.round()
        assert handed == []
    loop.round()
    assert handed == [[0, 1, 2]]
    add(3)
    for _ in range(QUIET_ROUNDS + 1):
        loop.round()
    assert handed == [[0, 1, 2], [3]]


def test_add__rounds_are_long__does_not_wait_for_so_many(
    loop: Loop, handed: list[list[int]], add: Callable[[int], None]
) -> None:
    add(1)
    loop.round()
    loop.round(2 * QUIET_SECONDS)
    assert handed == [[1]]


def test_add__more_comes_in_every_round__handed_on_all_the_same(
    loop: Loop, handed: list[list[int]], add: Callable[[int], None]
) -> None:
    for item in range(10):
        add(item)
        loop.round(MOST_SECONDS / 4)
    assert [len(items) for items in handed] == [5, 5]
