"""The composition root of a scheduler process: creates and connects its parts."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime
from functools import partial

from api.metrics import counters
from api.metrics.counters import CounterWriter
from api.startup import load_with_retries
from domain.partition_numbers import PartitionIdentity
from domain.scheduling.world.partition import Partition
from runtime.processes.garbage_collection import FOLD_YOUNG_OBJECTS, freeze_survivors, gc_paused
from runtime.processes.stop_request import listening
from runtime.settings import Settings, require_url
from store.contacts import Contacts
from store.counters import Counters
from store.event_log import EventLog
from store.migrate import require_migrated
from store.snapshots import Snapshots
from store.tailer import Tailer
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, lease_for


def run_scheduler(settings: Settings, identity: PartitionIdentity) -> None:
    """Run the scheduler of a partition until SIGTERM."""
    url = require_url(settings.database_url)
    # One session each for the decisions, the counters and the snapshots.
    log = EventLog(url, pool_size=3)
    holder = f"{socket.gethostname()}/{os.getpid()}"
    stop = listening()
    snapshots = Snapshots(log, identity)
    with gc_paused():
        partition = load_with_retries(partial(_load, url, snapshots), stop.is_requested)
    if partition is not None:
        # A large commit under construction has a hundred thousand objects.
        freeze_survivors(FOLD_YOUNG_OBJECTS)
        tailer = Tailer(url, after=partition.position, partition=identity.number)
        consistency = ConsistencyLoop(Contacts(log), settings.consistency_seconds)
        scheduler = Scheduler(
            log,
            tailer,
            lease_for(url, holder, settings.lease_seconds, identity),
            lambda: datetime.now(UTC),
            partition,
            consistency,
            snapshots,
        )
        counts = (scheduler.counters, consistency.findings, consistency.withheld, tailer.counters)
        totals = partial(counters.scheduling, *counts)
        counted = Counters(log, totals, held_back=lambda: scheduler.held_back, partition=identity.number)
        with CounterWriter(counted):
            scheduler.run(stop.is_requested)
    log.close()


def _load(url: str, snapshots: Snapshots) -> Partition:
    require_migrated(url)
    return snapshots.load()
