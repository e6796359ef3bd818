"""`labledger replay verify` on a log of two partitions in PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

from domain.partition_numbers import DEFAULT_PARTITION
from tests.domain.scheduling.two_partitions import OTHER, TwoPartitions, living
from tests.harness.databases import TestDatabase
from tests.workers.verification.command import different, found, verify
from tests.workers.verification.stored import store


def decision_count(world: TwoPartitions, partition: int) -> int:
    bases = {(row.commit_end, row.stamp.number): row.stamp.basis for row in world.log if row.stamp.basis}
    return sum(basis.partition == partition for basis in bases.values())


def test_verify__two_partitions_and_labs_that_move__each_is_recomputed(database: TestDatabase) -> None:
    (*_, world) = living(seed=1, bursts=30)
    store(database, world.log)
    answer = found(database, status=0)
    for part in answer["hash_seeds"].values():
        counts = {each["name"]: each["decisions"] for each in part["partitions"]}
        assert counts == {
            each.name: decision_count(world, each.number) for each in (DEFAULT_PARTITION, OTHER)
        }
        assert all(counts.values())
        assert part["decisions"] == sum(counts.values())
    assert answer["audit"]["broken"] == 0
    text = verify(database, status=0)
    assert f"  partition other (2): {decision_count(world, 2)} decisions recomputed, all match" in text


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
