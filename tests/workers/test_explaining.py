"""The explaining process of a partition: what it folds, and its end."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing

import orjson
import pytest

from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity, read_by
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces
from runtime.settings import variable
from store.event_log import EventLog
from store.snapshots import Snapshots
from tests.domain.scheduling.two_partitions import OTHER, living
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.workers.verification.stored import store
from workers.explaining.follower import Follower

# The child process, which ends soon when it is idle.
IMPATIENT = """
from runtime.processes.child import run_child
from workers.explaining import child
child.IDLE_SECONDS = 0.1
run_child(child.answer_requests)
"""


@pytest.mark.parametrize("identity", [DEFAULT_PARTITION, OTHER])
def test_follower__of_a_partition__has_the_state_of_its_scheduler_at_any_position(
    database: TestDatabase, log: EventLog, identity: PartitionIdentity
) -> None:
    (*_, world) = living(seed=3, bursts=20)
    store(database, world.log)
    ends = sorted({recorded.commit_end for recorded in whole_log(log)})
    snapshots = {each: Snapshots(log, each) for each in (DEFAULT_PARTITION, OTHER)}
    for each, of_partition in snapshots.items():
        for _ in of_partition.saving(fold(log, each, ends[len(ends) // 3])):
            pass
    with closing(Follower(database.service_url, identity)) as follower:
        for position in (ends[-1], ends[len(ends) // 2], ends[5]):
            assert plain(follower.at(position)) == plain(fold(log, identity, position))
        assert follower.at_end().systems == fold(log, identity, ends[-1]).systems


def fold(log: EventLog, identity: PartitionIdentity, upto: int) -> Partition:
    """Return the partition of a scheduler that has just read the log up to a position."""
    partition = Partition(identity)
    for recorded in whole_log(log):
        if recorded.position <= upto and recorded.partition in read_by(identity.number):
            partition.apply(recorded, log.history)
    partition.pass_over(upto)
    return partition


def plain(partition: Partition) -> bytes:
    return orjson.dumps(list(pieces(partition)))


def test_process__no_question_for_a_while__ends(database: TestDatabase) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, str(OTHER.number), OTHER.name],
        env={**os.environ, variable("database_url"): database.service_url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.wait(30) == 0
