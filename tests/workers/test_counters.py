"""What the scheduler counts is where the API processes find it."""

from __future__ import annotations

from datetime import UTC, datetime

from api.store.contacts import Contacts
from api.store.counters import Counters
from api.store.event_log import EventLog
from api.store.tailer import Tailer
from api.workers.consistency import ConsistencyLoop
from api.workers.scheduler import Scheduler, lease_for
from tests.harness.databases import TestDatabase
from tests.store.sessions import Owner
from tests.workers.lab import equip

SHOWN = "SELECT name, value FROM live.counters WHERE process = 'scheduler' ORDER BY name"


def test_counters__two_systems_asked__decisions_and_their_commit_are_shown(
    log: EventLog, owner: Owner, database: TestDatabase
) -> None:
    equip(log, systems=2)
    scheduler = Scheduler(
        log,
        Tailer(database.service_url),
        lease_for(database.service_url, "test"),
        lambda: datetime.now(UTC),
        consistency=ConsistencyLoop(Contacts(log), Counters(log), every_seconds=0.0),
    )
    for _ in range(2):  # it decides; then nothing waits, and it shows
        scheduler.step(timeout_seconds=1.0)
    scheduler.run(lambda: True)
    assert owner.execute(SHOWN).fetchall() == [("commits", 1), ("conflicts", 0), ("decisions", 2)]
