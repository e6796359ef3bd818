"""Stored snapshots of the scheduler, and the writer that decides when to store one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from math import inf
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.system_states import SystemStates
from domain.directory.state import Directory
from domain.events import Recorded
from domain.partition_numbers import PartitionIdentity
from domain.scheduling.world.partition import Partition
from domain.system.events import SystemIdle, SystemOwnerChanged
from domain.system.state import System
from postgres.errors import DatabaseAway
from store.aggregates import Aggregates
from store.event_log import EventLog
from store.lease import scheduler_lease
from store.mapper import StoredRow
from store.snapshots import Snapshots, UnreadableSnapshot, code_version
from store.sql import SQL
from store.tailer import Tailer
from tests.domain.scheduling.contents import snapshot_of
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.inline_threads import InlineThread
from tests.harness.sessions import Owner
from tests.harness.waiting import PATIENCE_SECONDS, wait_until
from tests.store.faults.proxy import proxy
from tests.store.faults.stores import through
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided, assert_decided_once
from tests.workers.lab import equip, put, submit_jobs
from tests.workers.run_once import run_once
from workers import snapshotting
from workers.scheduler import Scheduler, lease_for
from workers.snapshotting import CALM_SNAPSHOT_SECONDS, MAX_PAUSE_SECONDS, SNAPSHOT_EVENTS, SnapshotWriter


def with_content(content: bytes) -> bytes:
    return rb"UPDATE live.snapshots SET content = '\x%s'" % zlib.compress(content).hex().encode()


CORRUPTIONS = {
    "of other code": b"UPDATE live.snapshots SET code = 'another'",
    "ahead of the log": b"UPDATE live.snapshots SET position = position + 1000000",
    "without a piece": b"DELETE FROM live.snapshots WHERE number = 1",
    "without a last piece": b"UPDATE live.snapshots SET is_last = false",
    "not compressed": b"UPDATE live.snapshots SET content = '{}'",
    "not JSON": with_content(b"x"),
    "of another format": with_content(b'{"position": 1}'),
}


def test_scheduler__stopped__snapshot_equals_the_folded_log(log: EventLog, start: Start) -> None:
    run_once(log, start, jobs=5)

    snapshot = Snapshots(log).load()
    assert snapshot.position > 0
    # The scheduler may have stopped before it read its own last commit.
    for recorded in whole_log(log):
        if recorded.position > snapshot.position:
            snapshot.apply(recorded)
    assert snapshot_of(snapshot) == snapshot_of(folded(log))


def test_scheduler__started_on_a_snapshot__decides_new_jobs(log: EventLog, start: Start) -> None:
    run_once(log, start, jobs=5)
    before = Snapshots(log).load().position
    submit_jobs(log, 5)

    running = start("scheduler")
    wait_until(lambda: all_decided(log))
    running.terminate()
    running.wait(timeout=20)
    assert_decided_once(log)
    assert Snapshots(log).load().position > before


@pytest.mark.parametrize("corruption", CORRUPTIONS.values(), ids=CORRUPTIONS.keys())
def test_snapshot__invalid__is_not_loaded(log: EventLog, owner: Owner, corruption: bytes) -> None:
    equip(log, systems=3)
    submit_jobs(log, 2)
    snapshots = Snapshots(log)
    snapshots.save(folded(log))
    assert snapshots.load().position > 0
    owner.execute(corruption)
    assert snapshots.load().position == 0


def test_snapshot__stored_without_compression__is_not_loaded(log: EventLog, owner: Owner) -> None:
    equip(log, systems=3)
    snapshots = Snapshots(log)
    snapshots.save(folded(log))
    for number, content in owner.execute("SELECT number, content FROM live.snapshots").fetchall():
        update = "UPDATE live.snapshots SET content = %s WHERE number = %s"
        owner.execute(update, (zlib.decompress(content), number))
    assert snapshots.load().position == 0


def test_scheduler__no_valid_snapshot__reads_the_whole_log(log: EventLog, owner: Owner, start: Start) -> None:
    run_once(log, start, jobs=2)
    owner.execute(CORRUPTIONS["of another format"])
    submit_jobs(log, 3)
    start("scheduler")
    wait_until(lambda: all_decided(log))
    assert_decided_once(log)


def save(log: EventLog) -> None:
    Snapshots(log).save(folded(log))


def kept_systems(log: EventLog) -> list[System]:
    systems = Snapshots(log).systems()
    assert systems is not None
    return list(systems)


def idle_systems(log: EventLog, count: int) -> list[str]:
    """Append systems that are idle, and return their subjects."""
    equip(log, count)
    subjects = [f"system/host-{number:02}.lab" for number in range(count)]
    versions = {len(events) for events in log.load(dict.fromkeys(subjects, 0)).values()}
    put(log, [(subject, SystemIdle()) for subject in subjects], *versions)
    return subjects


def test_systems__of_the_newest_snapshot__are_those_of_the_log(log: EventLog, start: Start) -> None:
    assert Snapshots(log).systems() is None
    run_once(log, start, jobs=5)
    kept = kept_systems(log)
    assert kept
    submit_jobs(log, 5)
    adopting, fresh = Aggregates(log), Aggregates(log)
    adopting.adopt(kept)
    subjects = [f"system/{system.fqdn}" for system in kept]
    assert adopting.recent(subjects) == {f"system/{system.fqdn}": system for system in kept}
    assert adopting.load(subjects) == fresh.load(subjects)


def test_adopt__a_state_before_the_cached_one__changes_nothing(log: EventLog) -> None:
    (subject,) = idle_systems(log, 1)
    save(log)
    early = kept_systems(log)
    put(log, [(subject, SystemOwnerChanged("bob"))], early[0].version)
    cache = Aggregates(log)
    present = cache.load([subject])
    cache.adopt(early)
    assert cache.recent([subject]) == present != {subject: early[0]}


def test_load__snapshot_is_deleted_meanwhile__loads_the_newer_one(
    log: EventLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domain.scheduling.world.snapshot.PIECE_SIZE", 1)
    monkeypatch.setattr("store.snapshots.PIECES_PER_QUERY", 2)
    idle_systems(log, 5)
    save(log)
    directly, newer = log.rows, iter([True])

    def rows(query: bytes, params: Any) -> list[tuple[Any, ...]]:
        if query == SQL["snapshot_pieces"] and params[2] > 0 and next(newer, False):
            owner.execute("DELETE FROM live.snapshots")
            submit_jobs(log, 1)
            save(log)
        return directly(query, params)

    monkeypatch.setattr(log, "rows", rows)
    loaded = Snapshots(log).load()
    assert next(newer, None) is None, "the snapshot was not deleted during the load"
    assert snapshot_of(loaded) == snapshot_of(folded(log)) and loaded.systems


@pytest.mark.parametrize("corruption", CORRUPTIONS.values(), ids=CORRUPTIONS.keys())
def test_systems__of_an_invalid_snapshot__are_not_returned(
    log: EventLog, owner: Owner, corruption: bytes
) -> None:
    idle_systems(log, 3)
    save(log)
    assert len(kept_systems(log)) == 3
    owner.execute(corruption)
    systems = Snapshots(log).systems()
    if systems is not None:
        with pytest.raises(UnreadableSnapshot):
            list(systems)


def test_states__of_a_serving_process__are_adopted_once_there_is_a_whole_snapshot(
    log: EventLog, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domain.scheduling.world.snapshot.PIECE_SIZE", 1)
    monkeypatch.setattr("store.snapshots.PIECES_PER_QUERY", 2)
    subjects = idle_systems(log, 5)
    caches = Aggregates(log), Aggregates(log)
    states = SystemStates(log, Directory(), caches)
    asyncio.run(states.adopt())
    save(log)

    def deleted_meanwhile(systems: Iterable[System]) -> None:
        owner.execute("DELETE FROM live.snapshots")

    with monkeypatch.context() as deleting:
        deleting.setattr("api.system_states.SYSTEMS_AT_ONCE", 1)
        deleting.setattr(caches[1], "adopt", deleted_meanwhile)
        asyncio.run(states.adopt())
    save(log)
    asyncio.run(states.adopt())
    with versions_asked(log) as asked:
        for cache in caches:
            assert len(cache.load(subjects)) == 5
    assert len(asked) == 2 and all(version > 0 for after in asked for version in after.values())
    # Nothing is read again: without the class, a read would raise TypeError.
    monkeypatch.setattr("api.system_states.Snapshots", None)
    asyncio.run(states.adopt())


@contextmanager
def versions_asked(log: EventLog) -> Iterator[list[Mapping[str, int]]]:
    """Yield the versions after which events are read within the context."""
    asked: list[Mapping[str, int]] = []
    directly = log.load

    def load(after: Mapping[str, int]) -> dict[str, list[Recorded]]:
        asked.append(after)
        return directly(after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "load", load)
        yield asked


def folded(log: EventLog) -> Partition:
    partition = Partition()
    for recorded in whole_log(log):
        partition.apply(recorded)
    return partition


def test_saving__answer_to_a_piece_is_lost__snapshot_is_complete(database: TestDatabase) -> None:
    with (
        proxy(database.service_url) as faulty,
        closing(EventLog(through(database.service_url, faulty.port))) as log,
    ):
        mine = PartitionIdentity(2, "mine")
        snapshots = Snapshots(log, mine)
        assert snapshots.load().identity == mine
        faulty.lose_answer_to(b"mine")
        snapshots.save(Partition(mine))
        assert faulty.lost.is_set()
        ((_, pieces),) = log.rows(SQL["newest_snapshot"], (scheduler_lease(mine), code_version(), 0))
        assert pieces == 1


def test_saving__paused_while_a_newer_one_is_saved__newer_one_remains(log: EventLog) -> None:
    equip(log, systems=3)
    older = folded(log)
    submit_jobs(log, 2)
    newer = folded(log)
    snapshots = Snapshots(log)
    stopped = snapshots.saving(older)
    next(stopped)()
    snapshots.save(newer)
    for step in stopped:
        step()
    assert snapshots.load().position == newer.position


def test_saving__repeated__first_of_each_recent_span_remains(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.snapshots.SPAN_EVENTS", 10)
    monkeypatch.setattr("store.snapshots.REACH_EVENTS", 30)
    snapshots, partition = Snapshots(log), Partition()
    equip(log, systems=40)
    for position in (2, 7, 12, 15, 23, 29, 31, 42, 45):
        partition.pass_over(position)
        snapshots.save(partition)
    loaded = {upto: snapshots.load(upto).position for upto in range(log.end() + 1)}
    assert sorted({*loaded.values()}) == [0, 23, 31, 42, 45]
    assert (loaded[22], loaded[30], loaded[44]) == (0, 23, 42)


def test_saving__older_ones_of_other_code__are_deleted(log: EventLog, owner: Owner) -> None:
    partition, snapshots = Partition(), Snapshots(log)
    for position in (0, 1):
        partition.pass_over(position)
        snapshots.save(partition)
        owner.execute(CORRUPTIONS["of other code"])
    ((kept,),) = log.rows(b"SELECT count(DISTINCT attempt) FROM live.snapshots", ())
    assert kept == 1


class FakeSnapshots:
    """A fake store that saves a snapshot in three steps; the second one fails if `away`.

    `positions` are those of the snapshots whose steps were all run.
    """

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.away = False

    def saving(self, partition: Partition, pieces_per_step: int) -> Iterator[Callable[[], None]]:
        position, run = partition.position, list[int]()
        yield lambda: run.append(1)
        yield self._fail_if_away
        yield lambda: self.positions.extend([position] * len(run))

    def _fail_if_away(self) -> None:
        if self.away:
            raise DatabaseAway


@pytest.mark.parametrize(
    ("events", "seconds", "due"),
    [(SNAPSHOT_EVENTS, 0.0, True), (SNAPSHOT_EVENTS - 1, 0.0, False), (SNAPSHOT_EVENTS, 3_600.0, False)],
)
def test_is_due__events_and_interval__both_are_required(
    monkeypatch: pytest.MonkeyPatch, events: int, seconds: float, due: bool
) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", seconds)
    partition = Partition()
    partition.position = 7
    snapshots: Any = FakeSnapshots()
    writer = SnapshotWriter(snapshots, partition)
    partition.position += events
    assert writer.is_due() is due


@pytest.mark.parametrize(
    ("idle_times", "due"),
    [
        ([(1, 0.0), (2, 0.95)], True),
        ([(1, 0.0), (1.5, 0.4), (2, 0.4)], True),
        ([(1, 0.0), (2, 0.5)], False),
        # Idle earlier, but not in the last second.
        ([(1, 0.0), (2, 0.95), (3, 0.05)], False),
    ],
)
def test_is_due__mostly_idle__after_the_shorter_interval(
    monkeypatch: pytest.MonkeyPatch, idle_times: list[tuple[float, float]], due: bool
) -> None:
    """Add idle times, given as (time at the end, duration in seconds)."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(snapshotting, "time", SimpleNamespace(monotonic=lambda: clock.now))
    partition = Partition()
    snapshots: Any = FakeSnapshots()
    writer = SnapshotWriter(snapshots, partition)
    partition.position = SNAPSHOT_EVENTS
    for clock.now, seconds in idle_times:
        writer.add_idle(seconds)
    clock.now = CALM_SNAPSHOT_SECONDS
    assert writer.is_due() is due


def test_write_all__nothing_new__writes_one_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    snapshots: Any = FakeSnapshots()
    writer = SnapshotWriter(snapshots, partition)
    writer.write_all()
    partition.position = SNAPSHOT_EVENTS
    writer.write_all()
    writer.write_all()
    assert (snapshots.positions, writer.is_due()) == ([SNAPSHOT_EVENTS], False)


def test_write_all__database_away__raises_at_any_step() -> None:
    partition = Partition()
    snapshots: Any = FakeSnapshots()
    writer = SnapshotWriter(snapshots, partition)
    partition.position = 5
    snapshots.away = True
    with pytest.raises(DatabaseAway):
        writer.write_all()

    def fail() -> None:
        raise DatabaseAway

    writer = SnapshotWriter(cast(Any, SimpleNamespace(saving=lambda *_: iter([fail]))), partition)
    partition.position = 6
    with pytest.raises(DatabaseAway):
        writer.write_all()


def test_write_all__the_step_before_hangs__raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "MAX_STORE_SECONDS", 0.01)
    may_end = Event()
    snapshots: Any = SimpleNamespace(saving=lambda *_: iter([lambda: may_end.wait(30) and None]))
    partition = Partition()
    writer = SnapshotWriter(snapshots, partition)
    partition.position = 5
    writer.write_some()
    with pytest.raises(DatabaseAway):
        writer.write_all()
    may_end.set()


ENDS_WHILE_A_PIECE_HANGS = """
from threading import Event
from types import SimpleNamespace
from domain.scheduling.world.partition import Partition
from workers.snapshotting import SnapshotWriter

begun = Event()

def hang():
    begun.set()
    Event().wait()

SnapshotWriter(SimpleNamespace(saving=lambda *_: iter([hang])), Partition()).write_some()
begun.wait()
"""


def test_process__ends_while_a_piece_hangs__does_not_wait_for_it() -> None:
    subprocess.run([sys.executable, "-c", ENDS_WHILE_A_PIECE_HANGS], check=True, timeout=PATIENCE_SECONDS)


def test_write_some__partition_changes_meanwhile__snapshot_is_of_the_start() -> None:
    partition = Partition()
    snapshots: Any = FakeSnapshots()
    writer = SnapshotWriter(snapshots, partition)
    partition.position = 5
    writer.write_some()
    assert writer.is_under_way
    partition.position = 6
    while writer.is_under_way:
        assert snapshots.positions in ([], [5])
        writer.write_some()
    assert snapshots.positions == [5]
    writer.write_all()
    assert snapshots.positions == [5, 6], "write_all writes the later events"


def test_is_due__piece_written__after_three_times_its_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(snapshotting, "Thread", InlineThread)
    monkeypatch.setattr(snapshotting, "time", SimpleNamespace(monotonic=lambda: clock.now))
    snapshots: Any = SimpleNamespace(saving=lambda *_: slow_pieces(clock, seconds=0.125))
    writer = SnapshotWriter(snapshots, Partition())
    assert writer.seconds_to_next_piece() == inf
    writer.write_some()
    assert (writer.is_due(), writer.seconds_to_next_piece()) == (False, 0.375)
    clock.now += 0.25
    assert (writer.is_due(), writer.seconds_to_next_piece()) == (False, 0.125)
    clock.now += 0.125
    assert (writer.is_due(), writer.seconds_to_next_piece()) == (True, 0.0)


def test_write_some__database_is_slow__does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = Event()
    stored: list[int] = []

    def slow() -> None:
        assert may_end.wait(timeout=30)
        stored.append(1)

    snapshots: Any = SimpleNamespace(saving=lambda *_: iter([slow, lambda: stored.append(2)]))
    monkeypatch.setattr(snapshotting, "SHARE_OF_TIME", 1.0)
    writer = SnapshotWriter(snapshots, Partition())
    writer.write_some()
    assert (stored, writer.is_due()) == ([], False)
    assert snapshotting.POLL_SECONDS <= writer.seconds_to_next_piece() <= MAX_PAUSE_SECONDS
    may_end.set()
    wait_until(writer.is_due)
    writer.write_some()
    writer.write_some()
    assert (stored, writer.is_under_way) == ([1, 2], False)


def test_step__snapshot_unfinished__waits_no_longer_than_until_its_next_piece(
    log: EventLog, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_EVENTS", 1)
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(snapshotting, "CALM_SNAPSHOT_SECONDS", 0.0)
    equip(log, systems=3)
    with closing(RecordingTailer(database.service_url)) as tailer:
        lease, snapshots = lease_for(database.service_url, "test"), Snapshots(log)
        scheduler = Scheduler(log, tailer, lease, lambda: datetime.now(UTC), snapshots=snapshots)
        waits = []
        while snapshots.load().position < log.end():
            tailer.timeouts.clear()
            scheduler.step(timeout_seconds=5.0)
            waits.append(tailer.timeouts[0])

        def wait_of_step() -> float:
            tailer.timeouts.clear()
            scheduler.step(timeout_seconds=0.125)
            return tailer.timeouts[0]

        # The last step of a snapshot deletes older ones.
        wait_until(lambda: wait_of_step() == 0.125)
        scheduler.run(lambda: True)
    assert waits[0] == 5.0
    assert len(waits) > 1 and all(wait <= MAX_PAUSE_SECONDS for wait in waits[1:])


class RecordingTailer(Tailer):
    """A tailer that records how long its callers would wait."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.timeouts: list[float] = []

    def next_page(self, timeout_seconds: float) -> Sequence[StoredRow]:
        self.timeouts.append(timeout_seconds)
        return super().next_page(timeout_seconds)


def test_seconds_to_next_piece__database_was_slow__are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(snapshotting, "Thread", InlineThread)
    monkeypatch.setattr(snapshotting, "time", SimpleNamespace(monotonic=lambda: clock.now))
    snapshots: Any = SimpleNamespace(saving=lambda *_: slow_pieces(clock, seconds=60.0))
    writer = SnapshotWriter(snapshots, Partition())
    writer.write_some()
    assert writer.seconds_to_next_piece() == MAX_PAUSE_SECONDS


def slow_pieces(clock: SimpleNamespace, seconds: float) -> Iterator[Callable[[], None]]:
    while True:
        clock.now += seconds / 5

        def store() -> None:
            clock.now += seconds * 4 / 5

        yield store


def test_write_some__database_unavailable__starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "SNAPSHOT_SECONDS", 0.0)
    partition = Partition()
    snapshots: Any = FakeSnapshots()
    writer = SnapshotWriter(snapshots, partition)
    partition.position = SNAPSHOT_EVENTS
    snapshots.away = True
    writer.write_some()
    writer.write_some()
    with pytest.raises(DatabaseAway):
        writer.write_some()
    assert (writer.is_under_way, writer.is_due()) == (False, True)
    snapshots.away = False
    writer.write_all()
    assert snapshots.positions == [SNAPSHOT_EVENTS]
