"""The state of the service as seen by the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog
from store.lease import scheduler_lease
from store.partitions import existing_partitions

SQL = named_queries(Path(__file__).with_name("readiness.sql"))


@dataclass(frozen=True)
class LeaseHolder:
    """The holder of a lease, and the time since its last renewal."""

    name: str
    renewed_seconds_ago: float
    lease_seconds: float

    @property
    def is_live(self) -> bool:
        return self.renewed_seconds_ago <= self.lease_seconds


@dataclass(frozen=True)
class NotifierState:
    """The state of the notifier as it has stored it, and of its messages.

    `lag_seconds` is the age of the first event that it has not read, or the time since it stored its position
    if that is longer. `backlog_seconds` has the age of the oldest waiting message by channel.
    `people_without_mail` have chosen mail, but the notifier has no mail server.
    """

    has_run: bool
    is_active: bool
    lag_events: int
    lag_seconds: float
    people_without_mail: int
    backlog_seconds: Mapping[str, float]
    given_up_count: int


@dataclass(frozen=True)
class DatabaseState:
    """The state of database, log, and leases.

    `behind_seconds` is the age of the next event, or 0. `append_hangs` if an append blocks others for 4 s.
    `schedulers` has the holder of the lease of each partition that exists, by the name of the partition.
    """

    writable: bool
    log_end: int
    behind_seconds: float
    append_hangs: bool
    schedulers: Mapping[str, LeaseHolder | None]
    notifier: NotifierState


def database_state(log: EventLog, position: int) -> DatabaseState:
    """Return the state, with `behind_seconds` for a position. Blocking. Raises DatabaseAway."""
    partitions = existing_partitions(log)
    rows = log.rows(
        SQL["readiness"], {"leases": list(map(scheduler_lease, partitions)), "position": position}
    )
    writable, end, behind_seconds, append_hangs, *_ = rows[0]
    holders = (LeaseHolder(*lease) if lease[0] is not None else None for _, _, _, _, *lease in rows)
    schedulers = dict(zip((identity.name for identity in partitions), holders, strict=True))
    return DatabaseState(
        writable, end, max(0.0, behind_seconds), append_hangs, schedulers, notifier_state(log)
    )


def notifier_state(log: EventLog) -> NotifierState:
    """Return the state of the notifier. Blocking. Raises DatabaseAway."""
    ((*state,),) = log.rows(SQL["notifier"], {})
    return NotifierState(*state)
