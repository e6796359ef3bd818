"""The parts of the HTTP API, created by `api.root`. Others see protocols: `use_cases.ports`, `rest.ports`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from api.caller_slots import CallerSlots
from api.clock import Clock
from api.concurrency_limits import ActiveRequests, MaxWaits
from api.feed import Feed
from api.item_pace import ItemPace
from api.metrics.requests import RequestCounters
from api.metrics.slow_metrics import SlowMetrics
from api.oidc.sign_in import SignIn
from api.password_attempts import Attempts, FaultyLogins
from api.passwords import Hashing
from api.quotas import Quotas
from api.rest.cached_waits import RecentWaits
from api.use_cases.ldap_sync import LdapSource
from domain.job.retention_tags import RetentionTags
from domain.notifications.kinds import DEFAULT_KINDS
from projections.reader import Reader
from runtime.locks import LockClass
from store.aggregates import Aggregates
from store.contacts import Contacts
from store.event_log import EventLog
from store.group_commit import GroupCommit
from store.job_numbers import JobNumberSource
from store.registrations import Registrations
from workers.explaining.explainers import Explainers


@dataclass(frozen=True)
class Parts:
    log: EventLog
    commits: GroupCommit
    feed: Feed
    reader: Reader
    aggregates: Aggregates
    contacts: Contacts
    registrations: Registrations
    numbers: JobNumberSource
    explainers: Explainers
    requests: RequestCounters = field(default_factory=RequestCounters)
    slow_metrics: SlowMetrics = field(default_factory=SlowMetrics)
    hashing: Hashing = field(default_factory=Hashing)
    attempts: Attempts = field(default_factory=Attempts)
    retries: CallerSlots = field(default_factory=partial(CallerSlots, LockClass.RETRIES))
    retention_tags: RetentionTags = field(default_factory=RetentionTags)
    default_kinds: Sequence[str] = DEFAULT_KINDS
    quotas: Quotas = field(default_factory=Quotas)
    active_requests: ActiveRequests = field(default_factory=ActiveRequests)
    faulty_logins: FaultyLogins = field(default_factory=FaultyLogins)
    item_pace: ItemPace = field(default_factory=partial(ItemPace, 0))
    max_waits: MaxWaits = field(default_factory=MaxWaits)
    recent_waits: RecentWaits = field(default_factory=RecentWaits)
    clock: Clock = lambda: datetime.now(UTC)
    page_reads: PageReads | None = None
    # The number of days for which the addresses of clients are kept, 0 for not at all.
    address_days: int = 0
    # None without LDAP.
    ldap: LdapSource | None = None
    sign_in: SignIn | None = None

    def for_pages(self) -> Parts:
        """Return the parts of the pages, which read by their own sessions, so no lab controller waits."""
        own = self.page_reads
        if own is None:
            return self
        return replace(self, log=own.log, reader=own.reader, aggregates=own.aggregates)


@dataclass(frozen=True)
class PageReads:
    """The parts for the reads of pages."""

    log: EventLog
    reader: Reader
    aggregates: Aggregates
