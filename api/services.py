"""The services of the HTTP API, as one value that the composition root makes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from api.concurrency_limits import UnderWay
from api.faulty_logins import FaultyLogins
from api.feed import Feed
from api.metrics.requests import RequestCounters
from api.password_attempts import Attempts
from api.passwords import Hashing
from api.quotas import Quotas
from domain.events import Stamp
from domain.job.retention import RetentionTags
from projections.reader import Reader
from store.aggregates import Aggregates
from store.contacts import Contacts
from store.event_log import EventLog
from store.group_commit import GroupCommit
from store.job_numbers import JobNumbers
from store.requests import AppendRequest, Outcome
from workers.explaining.explainer import Explainer


@dataclass(frozen=True)
class Request:
    """The actor of a change, the right it is made by, and the key to find its answer again.

    `command_id` and `digest` come from an Idempotency-Key; without one every attempt is a new command.
    `expected` are the versions that an If-Match names for the subject of the request, None without one.
    `role` and `token_id` are those of the request. `has_quota`: whether the quotas of its actor apply.
    """

    actor: str
    request_id: str
    command_id: str | None = None
    digest: bytes | None = None
    is_admin: bool = False
    expected: frozenset[int] | None = None
    role: str | None = None
    token_id: str | None = None
    has_quota: bool = False


@dataclass(frozen=True)
class Bounds:
    """The maximum waits of a request: for a position, and for a command."""

    position_wait_seconds: float = 5.0
    long_poll_seconds: float = 60.0


@dataclass(frozen=True)
class Services:
    log: EventLog
    commits: GroupCommit
    feed: Feed
    reader: Reader
    aggregates: Aggregates
    contacts: Contacts
    numbers: JobNumbers
    explainer: Explainer
    requests: RequestCounters = field(default_factory=RequestCounters)
    hashing: Hashing = field(default_factory=Hashing)
    attempts: Attempts = field(default_factory=Attempts)
    trying_again: asyncio.Lock = field(default_factory=asyncio.Lock)
    retention_tags: RetentionTags = field(default_factory=RetentionTags)
    quotas: Quotas = field(default_factory=Quotas)
    under_way: UnderWay = field(default_factory=UnderWay)
    faulty_logins: FaultyLogins = field(default_factory=FaultyLogins)
    bounds: Bounds = Bounds()
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def moment(self) -> str:
        """Return the present time as text."""
        return written(self.clock())

    def stamp(self, request: Request) -> Stamp:
        return Stamp(at=self.clock(), actor=request.actor, cause=f"request/{request.request_id}")

    async def append(self, append: AppendRequest) -> Outcome:
        outcome = await self.commits.submit(append)
        self.quotas.learn(append, outcome)
        return outcome


def written(moment: datetime) -> str:
    """Return a time as text, as in events and answers."""
    return moment.isoformat().replace("+00:00", "Z")
