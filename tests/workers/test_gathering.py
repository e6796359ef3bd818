"""New sets that wait for others shortly after a commit, so that one commit queues them."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

from domain.system_admin.registration import register
from store.event_log import EventLog
from store.tailer import Tailer
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.waiting import wait_until
from tests.workers.decisions import ANSWERS, all_decided, assert_decided_once
from tests.workers.lab import SYSTEM, equip, put, submit_jobs
from workers.scheduler import Scheduler, lease_for

# Longer than the test takes.
GATHER_SECONDS = 3_600.0


def test_new_sets__shortly_after_a_commit__wait_until_a_system_is_free(
    database: TestDatabase, log: EventLog
) -> None:
    equip(log, systems=1)
    submit_jobs(log, 1)
    url = database.service_url
    with closing(EventLog(url, pool_size=1)) as own:
        scheduler = Scheduler(
            own,
            Tailer(url),
            lease_for(url, "test"),
            lambda: datetime.now(UTC),
            gather_seconds=GATHER_SECONDS,
        )
        wait_until(lambda: scheduler.step(timeout_seconds=0.0) or all_decided(log), "the first commit")
        gathered = []
        for _ in range(2):
            gathered += [f"recipe/{number}" for number in submit_jobs(log, 1)]
            for _ in range(3):
                scheduler.step(timeout_seconds=0.0)
            assert scheduler.partition.position == log.end() and not all_decided(log)
        put(log, register({**SYSTEM, "fqdn": "host-99.lab"}))
        wait_until(lambda: scheduler.step(timeout_seconds=0.0) or all_decided(log), "the second commit")
        scheduler.run(lambda: True)
    assert_decided_once(log)
    commits = [
        recorded.commit_end
        for recorded in whole_log(log)
        if isinstance(recorded.event, ANSWERS) and recorded.subject in gathered
    ]
    assert len(commits) == 2 and len(set(commits)) == 1
