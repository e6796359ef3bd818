"""What the scheduler knows is kept after enough news and enough time, and once only."""

from __future__ import annotations

from typing import Any

import pytest

from api.workers import keeping
from api.workers.keeping import SNAPSHOT_EVENTS, Keeping
from domain.scheduling.partition import Partition


class Kept:
    def __init__(self) -> None:
        self.positions: list[int] = []

    def save(self, partition: Partition) -> None:
        self.positions.append(partition.position)


@pytest.mark.parametrize(
    ("news", "seconds", "due"),
    [
        (SNAPSHOT_EVENTS, 0.0, True),
        (SNAPSHOT_EVENTS - 1, 0.0, False),
        (SNAPSHOT_EVENTS, 3_600.0, False),
    ],
)
def test_is_due__news_and_time_since__both_are_wanted(
    monkeypatch: pytest.MonkeyPatch, news: int, seconds: float, due: bool
) -> None:
    monkeypatch.setattr(keeping, "SNAPSHOT_SECONDS", seconds)
    partition = Partition()
    partition.position = 7
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    partition.position += news
    assert keeps.is_due() is due


def test_keep__nothing_new__is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    keeps.keep()
    partition.position = SNAPSHOT_EVENTS
    keeps.keep()
    keeps.keep()
    assert (kept.positions, keeps.is_due()) == ([SNAPSHOT_EVENTS], False)
