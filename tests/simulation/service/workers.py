"""The scheduler and the projector as processes: production's loops, built as in `api/root_*.py`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from domain.partition_numbers import PartitionIdentity
from domain.scheduling.world.partition import Partition
from postgres.errors import DatabaseAway
from store.contacts import Contacts
from store.event_log import EventLog
from store.snapshots import Snapshots
from store.tailer import Tailer, TailerCounters
from tests.simulation.machine.strands import Process, current
from tests.simulation.service.serving import URL
from workers import projector
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, lease_for

# An idle scheduler runs only every few minutes here, so its lease is longer than in production.
LEASE_SECONDS = 3000.0
CONSISTENCY_SECONDS = 30.0
RETRY_SECONDS = 0.5


class SchedulerProcess:
    """A process of the scheduler of one partition."""

    def __init__(self, process: Process, identity: PartitionIdentity, clock: Callable[[], datetime]) -> None:
        self.process = process
        self.identity = identity
        self.scheduler: Scheduler | None = None
        self._clock = clock
        process.strand(self._run)

    def _run(self) -> None:
        log = EventLog(URL)
        snapshots = Snapshots(log, self.identity)
        partition = self._patiently(snapshots.load)
        self.consistency = ConsistencyLoop(Contacts(log), CONSISTENCY_SECONDS)
        self.scheduler = Scheduler(
            log,
            Tailer(URL, after=partition.position, partition=self.identity.number),
            lease_for(URL, self.process.name, LEASE_SECONDS, self.identity),
            self._clock,
            partition,
            self.consistency,
            snapshots,
        )
        self.scheduler.run(lambda: self.process.stopping)
        self.process.alive = False

    def _patiently(self, load: Callable[[], Partition]) -> Partition:
        while True:
            try:
                return load()
            except DatabaseAway:
                current().wait(RETRY_SECONDS)


class ProjectorProcess:
    def __init__(self, process: Process) -> None:
        self.process = process
        counters = projector.ProjectorCounters()
        process.strand(lambda: projector.run(URL, lambda: process.stopping, counters, TailerCounters()))
