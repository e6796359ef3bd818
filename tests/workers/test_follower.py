"""The follower has the state of a scheduler at each position, from whichever snapshot it begins."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import closing

import pytest

from domain.scheduling.world.partition import Partition
from store.event_log import EventLog
from store.lease import SCHEDULER
from store.snapshots import Snapshots
from tests.domain.scheduling.contents import snapshot_of
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.workers.conftest import Start
from tests.workers.lab import submit_jobs
from tests.workers.run_once import run_once
from workers.explaining import follower as following
from workers.explaining.follower import Follower


@pytest.fixture
def follower(database: TestDatabase) -> Iterator[Follower]:
    with closing(Follower(database.service_url)) as made:
        yield made


def test_follower__any_position_in_any_order__knows_what_the_log_says_there(
    log: EventLog, start: Start, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SNAPSHOT_COST_EVENTS", 5)
    monkeypatch.setattr("store.snapshots.SPAN_EVENTS", 20)
    run_once(log, start, jobs=3)
    kept = _knowing_up_to(log, log.end() // 2)
    for _ in Snapshots(log, SCHEDULER).saving(kept):
        pass
    submit_jobs(log, 3)
    begun = _record_beginnings(monkeypatch)

    ends = sorted({recorded.commit_end for recorded in whole_log(log)})
    assert snapshot_of(follower.at_end()) == snapshot_of(_knowing_up_to(log, ends[-1]))
    for position in (ends[-2], ends[0], ends[-1], ends[len(ends) // 3], kept.position, ends[-3]):
        assert snapshot_of(follower.at(position)) == snapshot_of(_knowing_up_to(log, position))
    assert {0, kept.position} < {*begun}


def test_follower__one_past_after_another__is_not_kept(
    log: EventLog, start: Start, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SNAPSHOT_COST_EVENTS", 0)
    run_once(log, start, jobs=3)
    follower.at_end()
    ends = sorted({recorded.commit_end for recorded in whole_log(log)})
    try:
        left = [weakref.ref(follower.at(position)) for position in ends[:3]]
        assert [each() is None for each in left] == [True, True, False]
    finally:
        gc.unfreeze()


def _record_beginnings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the positions at which followers begin."""
    found: list[int] = []
    load = Snapshots.load

    def loaded(snapshots: Snapshots, upto: int | None = None) -> Partition:
        partition = load(snapshots, upto)
        found.append(partition.position)
        return partition

    monkeypatch.setattr(Snapshots, "load", loaded)
    return found


def _knowing_up_to(log: EventLog, position: int) -> Partition:
    """Return a partition folded from the beginning, up to the last commit that ends at the position."""
    partition = Partition()
    for recorded in whole_log(log):
        if recorded.commit_end <= position:
            partition.apply(recorded)
    return partition
