"""A scheduler that is asked to stop while it takes over does not decide before it has read the log."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

from domain.directory.events import LabControllerDisabled
from store.event_log import EventLog
from store.tailer import Tailer
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.workers.lab import equip, put, submit_jobs
from workers.scheduler import Scheduler, lease_for


class StoppedMeanwhile(Tailer):
    """A tailer of one page; the next is read after the scheduler was asked to stop."""

    pages = 0

    def next_page(self, timeout_seconds: float) -> list[object]:  # type: ignore[override]
        self.pages += 1
        return [*super().next_page(timeout_seconds)] if self.pages == 1 else []


def test_scheduler__asked_to_stop_before_it_has_read_to_the_end__decides_nothing(
    database: TestDatabase, log: EventLog
) -> None:
    equip(log, systems=1)
    submit_jobs(log, 1)
    lease = lease_for(database.service_url, "test")
    with closing(StoppedMeanwhile(database.service_url)) as tailer:
        scheduler = Scheduler(log, tailer, lease, lambda: datetime.now(UTC))
        # The scheduler has read up to there: the next page comes too late.
        for row in tailer.next_page(5.0):
            scheduler.partition.apply(log.mapper.recorded(row))  # type: ignore[arg-type]
        put(log, [("lab-controller/lab", LabControllerDisabled())], after=1)
        scheduler.run(_after(2))
    assert [recorded for recorded in whole_log(log) if recorded.stamp.basis] == []


def _after(questions: int):  # type: ignore[no-untyped-def]
    """Return a `stopping` that returns False for a number of calls, and True from then on."""
    left = iter([False] * questions)
    return lambda: next(left, True)
