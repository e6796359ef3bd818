"""A real log with actions between a decision and its append, or a lost answer of an append."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.requests import AppendRequest, Outcome


class InterposedLog(EventLog):
    """A log whose appends are real; an interposed action runs once, in the appending thread."""

    def __init__(self, url: str, pool_size: int = 1) -> None:
        super().__init__(url, pool_size)
        self._before: Callable[[], None] | None = None
        self._losing = False

    @contextmanager
    def preceded(self, act: Callable[[], None]) -> Iterator[None]:
        """Run `act` between the decision and the append of the next commit in the block, if there is one."""
        self._before = act
        try:
            yield
        finally:
            self._before = None

    @contextmanager
    def answer_lost(self) -> Iterator[None]:
        """Make the next append, but raise an error instead of its answer."""
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
