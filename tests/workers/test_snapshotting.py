"""What the scheduler knows is kept after enough news and enough time, and once only."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from domain.scheduling.world.partition import Partition
from postgres.errors import DatabaseAway
from workers import snapshotting
from workers.snapshotting import CALM_SNAPSHOT_SECONDS, SNAPSHOT_EVENTS, Keeping


class Kept:
    """Snapshots of three pieces."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.away = False

    def saving(self, partition: Partition) -> Iterator[None]:
        position = partition.position
        for number in range(3):
            if self.away and number == 1:
                raise DatabaseAway
            yield
        self.positions.append(position)


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
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", seconds)
    partition = Partition()
    partition.position = 7
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    partition.position += news
    assert keeps.is_due() is due


@pytest.mark.parametrize(
    ("waits", "due"),
    [
        ([(1, 0.0), (2, 0.95)], True),
        ([(1, 0.0), (1.5, 0.4), (2, 0.4)], True),
        ([(1, 0.0), (2, 0.5)], False),
        # It was idle, and is no more.
        ([(1, 0.0), (2, 0.95), (3, 0.05)], False),
    ],
)
def test_is_due__idle_most_of_the_time__sooner(
    monkeypatch: pytest.MonkeyPatch, waits: list[tuple[float, float]], due: bool
) -> None:
    """Waits by when each ends, and how long it was."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(snapshotting, "time", SimpleNamespace(monotonic=lambda: clock.now))
    partition = Partition()
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    partition.position = SNAPSHOT_EVENTS
    for clock.now, seconds in waits:
        keeps.idle_for(seconds)
    clock.now = CALM_SNAPSHOT_SECONDS
    assert keeps.is_due() is due


def test_keep__nothing_new__is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    keeps.keep()
    partition.position = SNAPSHOT_EVENTS
    keeps.keep()
    keeps.keep()
    assert (kept.positions, keeps.is_due()) == ([SNAPSHOT_EVENTS], False)


def test_keep_some__partition_goes_on__kept_is_what_was_known_at_the_beginning() -> None:
    partition = Partition()
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    partition.position = 5
    keeps.keep_some()
    assert keeps.under_way and keeps.is_due()
    partition.position = 6
    while keeps.under_way:
        assert kept.positions == []
        keeps.keep_some()
    assert kept.positions == [5]
    keeps.keep()
    assert kept.positions == [5, 6], "what came in since is kept in the end"


def test_keep_some__database_goes_away__begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    kept: Any = Kept()
    keeps = Keeping(kept, partition)
    partition.position = SNAPSHOT_EVENTS
    kept.away = True
    keeps.keep_some()
    with pytest.raises(DatabaseAway):
        keeps.keep_some()
    assert (keeps.under_way, keeps.is_due()) == (False, True)
    kept.away = False
    keeps.keep()
    assert kept.positions == [SNAPSHOT_EVENTS]
