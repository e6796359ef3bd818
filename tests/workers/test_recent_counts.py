"""Counts of the queue that are answered again: for longer the longer counting took."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from workers.explaining import recent_counts
from workers.explaining.recent_counts import MAX_AGE_FACTOR, MAX_AGE_SECONDS, RecentCounts


class Counting:
    """A clock, and counts that take some time on it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, took: float) -> None:
        self.now, self.position, self._took = 100.0, 1, took
        self._counts = RecentCounts()
        monkeypatch.setattr(recent_counts, "time", SimpleNamespace(monotonic=lambda: self.now))

    def found(self, min_position: int = 0) -> int:
        """Return the position of the counts that are found."""
        end = self.position
        position: int = self._counts.find_or_count(frozenset(), min_position, end, self._count)["position"]
        return position

    def _count(self) -> dict[str, int]:
        self.now += self._took
        return {"position": self.position}


@pytest.mark.parametrize(
    ("took", "age"),
    [
        # A short queue is counted nearly always.
        (0.001, 0.001 * MAX_AGE_FACTOR),
        (0.1, 0.1 * MAX_AGE_FACTOR),
        (3.0, MAX_AGE_SECONDS),
    ],
)
def test_counts__event_after_them__are_answered_again_for_their_age(
    monkeypatch: pytest.MonkeyPatch, took: float, age: float
) -> None:
    counting = Counting(monkeypatch, took)
    assert counting.found() == 1
    counting.position = 2
    counting.now += age * 0.9
    assert counting.found() == 1
    counting.now += age * 0.2
    assert counting.found() == 2


def test_counts__recent_but_before_the_wanted_position__are_counted_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting = Counting(monkeypatch, took=1.0)
    assert counting.found() == 1
    counting.position = 2
    assert counting.found(min_position=2) == 2


def test_counts__old_but_of_the_end_of_the_log__are_answered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch, took=1.0)
    before = counting.found(), counting.now
    counting.now += 1_000.0
    assert (counting.found(), counting.now) == (before[0], before[1] + 1_000.0)
