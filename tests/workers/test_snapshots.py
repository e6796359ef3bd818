"""Snapshots: when they are stored, and when they are loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from domain.scheduling.world.partition import Partition
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.lease import SCHEDULER
from store.snapshots import Snapshots, code_version
from store.sql import SQL
from tests.domain.scheduling.contents import snapshot_of
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.store.faults.proxy import proxy
from tests.store.faults.stores import through
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, submit_jobs
from tests.workers.run_once import run_once
from workers import snapshotting
from workers.snapshotting import CALM_SNAPSHOT_SECONDS, SNAPSHOT_EVENTS, SnapshotWriter

SPOILT = {
    "of other code": b"UPDATE live.snapshots SET code = 'another'",
    "ahead of the log": b"UPDATE live.snapshots SET position = position + 1000000",
    "not whole": b"DELETE FROM live.snapshots WHERE number = 1",
    "not ended": b"UPDATE live.snapshots SET is_last = false",
    "no JSON": b"UPDATE live.snapshots SET content = 'x'",
    "of another shape": b"UPDATE live.snapshots SET content = '{\"position\": 1}'",
}


def test_scheduler__stopped__leaves_the_state_of_the_whole_log(log: EventLog, start: Start) -> None:
    run_once(log, start, jobs=5)

    kept = Snapshots(log, SCHEDULER).load()
    assert kept.position > 0
    # It may have stopped before it read its own last commit.
    for recorded in whole_log(log):
        if recorded.position > kept.position:
            kept.apply(recorded)
    assert snapshot_of(kept) == snapshot_of(folded(log))


def test_scheduler__started_on_a_snapshot__goes_on(log: EventLog, start: Start) -> None:
    run_once(log, start, jobs=5)
    before = Snapshots(log, SCHEDULER).load().position
    submit_jobs(log, 5)

    running = start("scheduler")
    wait_until(lambda: all_decided(log))
    running.terminate()
    running.wait(timeout=20)
    assert_decided_once(log)
    assert Snapshots(log, SCHEDULER).load().position > before


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_snapshot__not_to_be_trusted__is_not_loaded(log: EventLog, owner: Owner, spoil: bytes) -> None:
    equip(log, systems=3)
    submit_jobs(log, 2)
    snapshots = Snapshots(log, SCHEDULER)
    for _ in snapshots.saving(folded(log)):
        pass
    assert snapshots.load().position > 0
    owner.execute(spoil)
    assert snapshots.load().position == 0


def test_scheduler__no_snapshot_to_be_trusted__reads_the_whole_log(
    log: EventLog, owner: Owner, start: Start
) -> None:
    run_once(log, start, jobs=2)
    owner.execute(SPOILT["of another shape"])
    submit_jobs(log, 3)
    start("scheduler")
    wait_until(lambda: all_decided(log))
    assert_decided_once(log)


def folded(log: EventLog) -> Partition:
    partition = Partition()
    for recorded in whole_log(log):
        partition.apply(recorded)
    return partition


def test_saving__answer_to_a_piece_is_lost__goes_on_and_is_whole(database: TestDatabase) -> None:
    with (
        proxy(database.service_url) as way,
        closing(EventLog(through(database.service_url, way.port))) as log,
    ):
        snapshots = Snapshots(log, "mine")
        snapshots.load()
        way.lose_answer_to(b"mine")
        for _ in snapshots.saving(Partition()):
            pass
        assert way.lost.is_set()
        assert len(log.rows(SQL["snapshot"], ("mine", code_version(), 0))) == 1


def test_saving__by_one_that_was_stopped_meanwhile__the_newer_one_stays(log: EventLog) -> None:
    equip(log, systems=3)
    older = folded(log)
    submit_jobs(log, 2)
    newer = folded(log)
    snapshots = Snapshots(log, SCHEDULER)
    stopped = snapshots.saving(older)
    next(stopped)
    for _ in snapshots.saving(newer):
        pass
    for _ in stopped:
        pass
    assert snapshots.load().position == newer.position


def test_saving__again_and_again__the_first_of_every_part_of_the_recent_past_stays(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.snapshots.SPAN_EVENTS", 10)
    monkeypatch.setattr("store.snapshots.REACH_EVENTS", 30)
    snapshots, partition = Snapshots(log, SCHEDULER), Partition()
    equip(log, systems=40)
    for position in (2, 7, 12, 15, 23, 29, 31, 42, 45):
        partition.pass_over(position)
        for _ in snapshots.saving(partition):
            pass
    stay = {upto: snapshots.load(upto).position for upto in range(log.end() + 1)}
    assert sorted({*stay.values()}) == [0, 23, 31, 42, 45]
    assert (stay[22], stay[30], stay[44]) == (0, 23, 42)


def test_saving__others_were_of_other_code__none_of_them_stays(log: EventLog, owner: Owner) -> None:
    partition, snapshots = Partition(), Snapshots(log, SCHEDULER)
    for position in (0, 1):
        partition.pass_over(position)
        for _ in snapshots.saving(partition):
            pass
        owner.execute(SPOILT["of other code"])
    ((kept,),) = log.rows(b"SELECT count(DISTINCT attempt) FROM live.snapshots", ())
    assert kept == 1


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
    [(SNAPSHOT_EVENTS, 0.0, True), (SNAPSHOT_EVENTS - 1, 0.0, False), (SNAPSHOT_EVENTS, 3_600.0, False)],
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
