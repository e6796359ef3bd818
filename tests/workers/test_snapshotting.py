"""Snapshots are written once, after enough events and enough time."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from domain.scheduling.world.partition import Partition
from postgres.errors import DatabaseAway
from workers import snapshotting
from workers.snapshotting import CALM_SNAPSHOT_SECONDS, SNAPSHOT_EVENTS, SnapshotWriter


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
    writer = SnapshotWriter(kept, partition)
    partition.position += news
    assert writer.is_due() is due


@pytest.mark.parametrize(
    ("waits", "due"),
    [
        ([(1, 0.0), (2, 0.95)], True),
        ([(1, 0.0), (1.5, 0.4), (2, 0.4)], True),
        ([(1, 0.0), (2, 0.5)], False),
        # It was idle before.
        ([(1, 0.0), (2, 0.95), (3, 0.05)], False),
    ],
)
def test_is_due__mostly_idle__sooner(
    monkeypatch: pytest.MonkeyPatch, waits: list[tuple[float, float]], due: bool
) -> None:
    """Add idle times: each ends at the first number and lasted for the second."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(snapshotting, "time", SimpleNamespace(monotonic=lambda: clock.now))
    partition = Partition()
    kept: Any = Kept()
    writer = SnapshotWriter(kept, partition)
    partition.position = SNAPSHOT_EVENTS
    for clock.now, seconds in waits:
        writer.add_idle(seconds)
    clock.now = CALM_SNAPSHOT_SECONDS
    assert writer.is_due() is due


def test_write_all__nothing_new__is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    kept: Any = Kept()
    writer = SnapshotWriter(kept, partition)
    writer.write_all()
    partition.position = SNAPSHOT_EVENTS
    writer.write_all()
    writer.write_all()
    assert (kept.positions, writer.is_due()) == ([SNAPSHOT_EVENTS], False)


def test_write_some__partition_goes_on__snapshot_is_of_the_beginning() -> None:
    partition = Partition()
    kept: Any = Kept()
    writer = SnapshotWriter(kept, partition)
    partition.position = 5
    writer.write_some()
    assert writer.is_under_way and writer.is_due()
    partition.position = 6
    while writer.is_under_way:
        assert kept.positions == []
        writer.write_some()
    assert kept.positions == [5]
    writer.write_all()
    assert kept.positions == [5, 6], "what came in since is kept in the end"


def test_write_some__database_goes_away__begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    kept: Any = Kept()
    writer = SnapshotWriter(kept, partition)
    partition.position = SNAPSHOT_EVENTS
    kept.away = True
    writer.write_some()
    with pytest.raises(DatabaseAway):
        writer.write_some()
    assert (writer.is_under_way, writer.is_due()) == (False, True)
    kept.away = False
    writer.write_all()
    assert kept.positions == [SNAPSHOT_EVENTS]
