"""One run of a scheduler process."""

from __future__ import annotations

from store.event_log import EventLog
from tests.harness.waiting import wait_until
from tests.workers.conftest import Start
from tests.workers.decisions import all_decided
from tests.workers.lab import equip, submit_jobs


def run_once(log: EventLog, start: Start, jobs: int) -> None:
    """Start a scheduler, wait for all decisions, and stop it."""
    equip(log, systems=3)
    submit_jobs(log, jobs)
    scheduler = start("scheduler")
    wait_until(lambda: all_decided(log))
    scheduler.terminate()
    scheduler.wait(timeout=20)
