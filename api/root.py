"""The composition root: every part is made here, and only here.

Read this first. The HTTP API, the scheduler and the projector are three processes over one log; what each
stands on is put together below.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from api.metrics import counters
from api.metrics.writer import CounterWriter
from domain.scheduling.world.partition import Partition
from postgres.errors import DatabaseAway
from runtime.processes.garbage_collection import (
    YOUNG_OF_A_FOLD,
    nothing_collected,
    spare_what_is_there,
    spare_what_lasts,
)
from runtime.processes.stop_request import listening
from runtime.settings import Settings, require_url
from store import migrate as migrations
from store.contacts import Contacts
from store.counters import Counters, Totals
from store.datastore import SERVICE_ROLE, probe, with_liveness
from store.event_log import EventLog
from store.lease import SCHEDULER
from store.migrated import require_migrated
from store.snapshots import Snapshots
from store.tailer import Tailer, TailerCounters
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, lease_for

if TYPE_CHECKING:
    from api.rest.serving.in_flight import InFlight
    from api.services import Services

T = TypeVar("T")


def migrate(settings: Settings) -> list[str]:
    """Migrate the database; return the names of the applied migrations."""
    return migrations.migrate(require_url(settings.migration_url))


def http_application(settings: Settings) -> InFlight:
    """Return the ASGI application of `labledger serve`, for one worker process."""
    # Imported here: a scheduler starts faster without the modules of HTTP.
    from api.rest.app import Allowed, Lifespan, application
    from api.rest.serving.in_flight import InFlight
    from api.startup import Opening

    url = require_url(settings.database_url)
    log = EventLog(url, pool_size=4)
    # A separate session, so that reads do not delay appends.
    appended = EventLog(url, pool_size=1)
    services = _services(settings, log, appended)
    counters = Counters(log, partial(_counted, services), lambda: services.feed.broadcast.watchers)
    writer = CounterWriter(counters)

    async def opened() -> None:
        spare_what_is_there()

    checked = partial(asyncio.to_thread, require_migrated, url)
    opening = Opening(checked, services.reader.open, services.feed.open, opened)

    async def start() -> None:
        await opening.begin()
        writer.start()

    async def stop() -> None:
        await opening.end()
        await services.feed.close()
        await services.reader.close()
        await services.explainer.close()
        services.commits.close()
        await asyncio.to_thread(writer.stop)
        appended.close()
        services.log.close()

    allowed = Allowed(settings.cors_origins, settings.requests_per_second, settings.proxies)
    return InFlight(application(services, Lifespan(start, stop), allowed), services.feed.dismiss)


def _services(settings: Settings, log: EventLog, appended: EventLog) -> Services:
    from api.concurrency_limits import MaxUnderWay, UnderWay
    from api.feed import Feed
    from api.quotas import QuotaLimits, Quotas
    from api.services import Bounds, Services
    from domain.job.retention import RetentionTags
    from projections.reader import Reader
    from store.aggregates import Aggregates
    from store.group_commit import GroupCommit
    from store.job_numbers import Numbers
    from workers.explaining.explainer import Explainer

    url = require_url(settings.database_url)
    under_way = MaxUnderWay(
        settings.max_requests_under_way,
        settings.max_waiting_reads,
        settings.max_user_body_bytes,
        settings.max_body_bytes,
    )
    return Services(
        log=log,
        commits=GroupCommit(appended),
        feed=Feed(log, url),
        reader=Reader(with_liveness(url), SERVICE_ROLE),
        aggregates=Aggregates(log),
        contacts=Contacts(log),
        numbers=Numbers(log),
        explainer=Explainer(url),
        quotas=Quotas(
            QuotaLimits(
                settings.max_log_bytes_per_day,
                settings.max_unfinished_recipes,
                settings.max_live_tokens,
            )
        ),
        retention_tags=RetentionTags(settings.retention_tags),
        under_way=UnderWay(under_way),
        bounds=Bounds(settings.position_wait_seconds, settings.long_poll_seconds),
    )


def _counted(services: Services) -> Totals:
    feed = services.feed
    tailer = feed.tailer.counters if feed.tailer is not None else None
    return counters.serving(services.requests, services.commits.counters, feed.broadcast.counters, tailer)


def run_scheduler(settings: Settings) -> None:
    """Run the process of `labledger scheduler` until SIGTERM."""
    url = require_url(settings.database_url)
    log = EventLog(url)
    holder = f"{socket.gethostname()}/{os.getpid()}"
    stop = listening()
    snapshots = Snapshots(log, SCHEDULER)

    def load() -> Partition:
        require_migrated(url)
        return snapshots.load()

    with nothing_collected():
        partition = _patiently_now(load, stop.made)
    if partition is not None:
        # A deep commit in the making is a hundred thousand objects.
        spare_what_lasts(YOUNG_OF_A_FOLD)
        tailer = Tailer(url, after=partition.position)
        consistency = ConsistencyLoop(Contacts(log), settings.consistency_seconds)
        scheduler = Scheduler(
            log,
            tailer,
            lease_for(url, holder, settings.lease_seconds),
            lambda: datetime.now(UTC),
            partition,
            consistency,
            snapshots,
        )
        counts = (scheduler.counters, consistency.findings, consistency.withheld, tailer.counters)
        with CounterWriter(Counters(log, partial(counters.scheduling, *counts))):
            scheduler.run(stop.made)
    log.close()


def _patiently_now(load: Callable[[], T], stopping: Callable[[], bool]) -> T | None:
    """Wait for the database and return the result; return None if the process was stopped meanwhile."""
    while not stopping():
        try:
            return load()
        except DatabaseAway as error:
            logging.getLogger(__name__).warning("waiting for the database: %s", error)
            time.sleep(0.5)
    return None


def run_projector(settings: Settings) -> None:
    """Run the process of `labledger projector` until SIGTERM."""
    from workers import projector

    url = require_url(settings.database_url)
    stop = listening()
    _patiently_now(partial(require_migrated, url), stop.made)
    log = EventLog(url, pool_size=1)
    counts = (projector.ProjectorCounters(), TailerCounters())
    spare_what_lasts()
    with CounterWriter(Counters(log, partial(counters.projecting, *counts))):
        projector.run(url, stop.made, *counts)
    log.close()


def first_admin_token(settings: Settings, keep: Callable[[str], None] = lambda token: None) -> str | None:
    """Create a token of the new user admin, stored before it is valid; return None if an admin can log in."""
    from api.use_cases.first_token import make_first_token

    probe(require_url(settings.database_url))
    log = EventLog(require_url(settings.database_url))
    try:
        return make_first_token(log, datetime.now(UTC), keep)
    finally:
        log.close()


def log_size(settings: Settings) -> int:
    """Return the number of events in the log."""
    log = EventLog(require_url(settings.database_url))
    try:
        return log.end()
    finally:
        log.close()
