"""The real log, and what happens between a decision and its append, or between that and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.requests import AppendRequest, Outcome


class InterposedLog(EventLog):
    """All appends are real. What is told to happen before one happens once, in the thread that appends."""

    def __init__(self, url: str, pool_size: int = 1) -> None:
        super().__init__(url, pool_size)
        self._before: Callable[[], None] | None = None
        self._losing = False

    @contextmanager
    def preceded(self, act: Callable[[], None]) -> Iterator[None]:
        """The next append is decided on what is true before `act`, if there is one within the block."""
        self._before = act
        try:
            yield
        finally:
            self._before = None

    @contextmanager
    def answer_lost(self) -> Iterator[None]:
        """The next append is made, and who asked for it does not hear of it."""
        self._losing = True
        yield
        assert not self._losing, "there was an append within the block"

    def append(self, requests: Sequence[AppendRequest]) -> list[Outcome]:
        act, self._before = self._before, None
        if act is not None:
            act()
        outcomes = super().append(requests)
        losing, self._losing = self._losing, False
        if losing:
            raise DatabaseAway("its answer was lost")
        return outcomes
