"""The composition root of the HTTP API: creates and connects its parts. Read this first.

The scheduler and the projector have roots of their own, `root_scheduler` and `root_projector`, which
start faster because they do not import the HTTP API.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from api import address_deletion, periodic_ldap_sync, result_deletion, system_states
from api.application import HttpOptions, Lifespan, application
from api.background_loop import BackgroundLoop
from api.concurrency_limits import ActiveRequests, ConcurrencyLimits, MaxWaits
from api.feed import Feed
from api.item_pace import ItemPace
from api.metrics import counters
from api.metrics.counters import CounterWriter
from api.oidc.sign_in import sign_in_of
from api.parts import PageReads, Parts
from api.password_attempts import Attempts, FaultyLogins
from api.quotas import QuotaLimits, Quotas
from api.rest import slow_metrics_computation
from api.rest.serving.in_flight import InFlight
from api.shared_numbers import UNSHARED, ReportedNumbers
from api.startup import ServiceLifecycle
from api.system_states import SystemStates
from api.use_cases.external_groups import report_missing_groups
from api.use_cases.ldap_sync import LdapSource
from domain.job.retention_tags import RetentionTags
from projections.reader import Reader
from runtime.processes.garbage_collection import freeze_present_objects
from runtime.settings import Settings, require_url
from store.aggregates import Aggregates
from store.contacts import Contacts
from store.counters import Counters
from store.datastore import SERVICE_ROLE, with_keepalive
from store.event_log import EventLog
from store.group_commit import GroupCommit
from store.job_numbers import JobNumberSource
from store.ldap_sync import LdapSyncLease
from store.migrate import require_migrated
from store.registrations import Registrations
from store.slow_metric_turns import SlowMetricTurns
from workers.explaining.explainers import Explainers

# Pages have few sessions, so that they never take those of the API.
PAGE_SESSIONS = 2


def http_application(settings: Settings, shared: ReportedNumbers = UNSHARED) -> InFlight:
    """Return the ASGI application of `labledger serve`, for one worker process.

    `shared` has the numbers of all of them.
    """
    shared.join()
    url = require_url(settings.database_url)
    log = EventLog(url, pool_size=4)
    sign_in = sign_in_of(settings)
    # A separate session, so that reads do not delay appends.
    appended = EventLog(url, pool_size=1)
    page_log = EventLog(url, pool_size=PAGE_SESSIONS)
    reader = Reader(with_keepalive(url), SERVICE_ROLE)
    page_reads = PageReads(page_log, reader.sibling(PAGE_SESSIONS), Aggregates(page_log))
    parts = Parts(
        log=log,
        commits=GroupCommit(appended),
        feed=Feed(log, url),
        reader=reader,
        aggregates=Aggregates(log),
        contacts=Contacts(log),
        registrations=Registrations(log),
        numbers=JobNumberSource(log),
        explainers=Explainers(url),
        quotas=Quotas(_quota_limits(settings)),
        retention_tags=RetentionTags(settings.retention_tags),
        default_kinds=settings.notifications,
        active_requests=ActiveRequests(_concurrency_limits(settings), shared),
        attempts=Attempts(shared),
        faulty_logins=FaultyLogins(shared),
        item_pace=ItemPace(settings.items_per_second, shared=shared),
        max_waits=MaxWaits(settings.position_wait_seconds, settings.long_poll_seconds),
        page_reads=page_reads,
        address_days=settings.address_days,
        ldap=_ldap_source(settings, page_log),
        sign_in=sign_in,
    )
    feed = parts.feed
    sources = (parts.requests, parts.commits.counters, feed.broadcast.counters)
    totals = partial(counters.serving, *sources, parts.slow_metrics, feed.tailer_counters)
    writer = CounterWriter(Counters(log, totals, lambda: feed.broadcast.watchers))
    loops = _background_loops(settings, parts, page_log)
    check = partial(asyncio.to_thread, require_migrated, url)
    stop_writer = partial(asyncio.to_thread, writer.stop)
    lifecycle = ServiceLifecycle(
        opening=(
            *(check, reader.open, page_reads.reader.open, feed.open),
            *(loop.open for loop in loops),
            *(() if sign_in is None else (partial(report_missing_groups, parts, sign_in.group_map),)),
            freeze_present_objects,
        ),
        on_start=writer.start,
        closing=(
            *(loop.close for loop in loops),
            *(feed.close, page_reads.reader.close, reader.close, parts.explainers.close),
            *(() if sign_in is None else (sign_in.provider.close,)),
            *(parts.commits.close, stop_writer, appended.close, page_log.close, log.close),
        ),
    )
    options = HttpOptions(
        settings.cors_origins,
        settings.requests_per_second,
        settings.proxies,
        records_admins=settings.record_admin_reads,
        shared=shared,
    )
    return InFlight(
        application(parts, Lifespan(lifecycle.start, lifecycle.stop), options), feed.begin_shutdown
    )


def _background_loops(settings: Settings, parts: Parts, page_log: EventLog) -> Sequence[BackgroundLoop]:
    slow_metrics = slow_metrics_computation.SlowMetricsComputation(
        parts.for_pages(), parts.slow_metrics, SlowMetricTurns(page_log)
    )
    caches = parts.aggregates, parts.for_pages().aggregates
    return (
        BackgroundLoop(
            slow_metrics.take_turn_if_wanted,
            slow_metrics_computation.POLL_SECONDS,
            "slow metrics not computed",
        ),
        BackgroundLoop(
            partial(address_deletion.delete_addresses, page_log, settings.address_days),
            address_deletion.INTERVAL_SECONDS,
            "addresses not deleted",
        ),
        BackgroundLoop(
            partial(result_deletion.delete_results, parts.for_pages(), parts.retention_tags),
            result_deletion.INTERVAL_SECONDS,
            "results not deleted",
        ),
        BackgroundLoop(
            partial(periodic_ldap_sync.sync_if_due, parts), periodic_ldap_sync.POLL_SECONDS, "no LDAP sync"
        ),
        BackgroundLoop(
            SystemStates(page_log, parts.feed.directory, caches).adopt,
            system_states.INTERVAL_SECONDS,
            "systems not read from snapshots",
        ),
    )


def _ldap_source(settings: Settings, log: EventLog) -> LdapSource | None:
    if not settings.ldap_urls:
        return None
    # Imported here, so that a service without LDAP starts faster.
    from api.ldap.options import ldap_options
    from api.ldap.reading import read_people

    options = ldap_options(settings)
    return LdapSource(
        partial(read_people, options),
        options.group_map,
        options.max_removed_percent,
        options.sync_seconds,
        LdapSyncLease(log),
    )


def _quota_limits(settings: Settings) -> QuotaLimits:
    return QuotaLimits(
        settings.max_log_bytes_per_day, settings.max_unfinished_recipes, settings.max_live_tokens
    )


def _concurrency_limits(settings: Settings) -> ConcurrencyLimits:
    return ConcurrencyLimits(
        settings.max_requests_under_way,
        settings.max_waiting_reads,
        settings.max_user_body_bytes,
        settings.max_body_bytes,
    )
