"""`labledger replay verify` on a log of two partitions in PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

from tests.domain.scheduling.two_partitions import OTHER, living
from tests.harness.databases import TestDatabase
from tests.workers.verification.command import different, found, verify
from tests.workers.verification.stored import store


def test_verify__wrong_decision_of_the_second__is_shown_with_its_partition(database: TestDatabase) -> None:
    (*_, world) = living(seed=1, bursts=30)
    end = [row.commit_end for row in world.log if row.stamp.basis and row.partition == OTHER.number][-1]
    forged = [
        row._replace(stamp=replace(row.stamp, cause="timer/watchdog/1")) if row.commit_end == end else row
        for row in world.log
    ]
    store(database, forged)
    answer = found(database, status=1)
    count, *_ = different(answer)
    (first, *_) = answer["hash_seeds"].values()
    assert {each["partition"] for each in first["differences"]} == {"other"}
    assert [each["different"] for each in first["partitions"]] == [0, count]
    assert " of partition other, on basis " in verify(database, status=1)
