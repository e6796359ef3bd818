"""The explaining processes of a partition: what they fold, which one answers, and their end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import closing
from typing import Any

import orjson
import pytest

from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity, read_by
from domain.recipe.events import RecipeQueued, RecipeScheduled
from domain.scheduling.supply.waiting_reasons import NO_IDLE_SYSTEM, SENTENCES
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces
from runtime.processes.child import Child
from runtime.settings import variable
from store.event_log import EventLog
from store.snapshots import Snapshots
from tests.domain.scheduling.two_partitions import OTHER, living
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.workers.conftest import Start
from tests.workers.run_once import run_once
from tests.workers.verification.stored import store
from workers.explaining.explainer import Explainer
from workers.explaining.explainers import Explainers
from workers.explaining.follower import PAST, PRESENT, Follower, InThePast

NOW = "2026-12-01T00:00:00+00:00"
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
        of_partition.save(fold(log, each, ends[len(ends) // 3]))
    with closing(Follower(database.service_url, identity, PAST)) as follower:
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
        [sys.executable, "-c", IMPATIENT, str(OTHER.number), OTHER.name, PAST],
        env={**os.environ, variable("database_url"): database.service_url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.wait(30) == 0


def test_follower_of_the_present__asked_about_the_past__keeps_its_state(
    database: TestDatabase, log: EventLog, start: Start
) -> None:
    run_once(log, start, jobs=2)
    with closing(Follower(database.service_url, moment=PRESENT)) as follower:
        present = follower.at_end()
        with pytest.raises(InThePast, match=r"^position 1 is not the end of the log$"):
            follower.at(1)
        assert follower.at_end() is present


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return the process ids of the explaining processes by moment, as they are asked."""
    found: dict[str, int] = {}
    running = Explainer._running

    def noted(explainer: Explainer) -> Child:
        child = running(explainer)
        found[explainer._arguments[-1]] = child.pid
        return child

    monkeypatch.setattr(Explainer, "_running", noted)
    return found


def test_explainers__question_about_the_past_hangs__present_is_answered(
    database: TestDatabase, log: EventLog, start: Start, pids: dict[str, int]
) -> None:
    run_once(log, start, jobs=5)
    *_, queued = (recorded for recorded in whole_log(log) if isinstance(recorded.event, RecipeQueued))
    recipe_id = int(queued.subject.removeprefix("recipe/"))
    question = {"now": NOW, "recipe_ids": [recipe_id], "unknown": []}

    async def ask() -> None:
        explainers = Explainers(database.service_url)
        past = queued.commit_end - 1
        before = await explainers.ask(DEFAULT_PARTITION, "reasons", at=past, **question)
        os.kill(pids[PAST], signal.SIGSTOP)
        hanging = asyncio.create_task(explainers.ask(DEFAULT_PARTITION, "reasons", at=past, **question))
        present = await explainers.ask(DEFAULT_PARTITION, "reasons", at=None, **question)
        assert (present["position"], hanging.done()) == (log.end(), False)
        assert present["reasons"] == [{"code": NO_IDLE_SYSTEM, "text": SENTENCES[NO_IDLE_SYSTEM]}]
        os.kill(pids[PAST], signal.SIGCONT)
        assert await hanging == before
        await explainers.close()

    asyncio.run(ask())


def test_explainers__why_a_recipe_got_its_system__is_answered_by_the_process_of_the_past(
    database: TestDatabase, log: EventLog, start: Start, pids: dict[str, int]
) -> None:
    run_once(log, start, jobs=2)
    (granted, *_) = (each for each in whole_log(log) if isinstance(each.event, RecipeScheduled))
    recipe_id = int(granted.subject.removeprefix("recipe/"))
    question = {"recipe_id": recipe_id, "at": None, "now": NOW, "limit": 10}
    reader: dict[str, Any] = {"system": None, "hidden": [], "unknown": []}

    async def ask() -> None:
        explainers = Explainers(database.service_url)
        # A caller that has looked at the recipe does not start the process of the present.
        directly = await explainers.ask(DEFAULT_PARTITION, "recipe", is_past=True, **question, **reader)
        assert pids.keys() == {PAST}
        answer = await explainers.ask(DEFAULT_PARTITION, "recipe", **question, **reader)
        await explainers.close()
        assert answer == directly
        assert (answer["granted"]["position"], pids.keys()) == (granted.position, {PRESENT, PAST})

    asyncio.run(ask())
