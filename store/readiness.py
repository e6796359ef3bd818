"""The state of the service as seen by the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog
from store.lease import scheduler_lease
from store.partitions import existing_partitions

QUERY = named_queries(Path(__file__).with_name("readiness.sql"))["readiness"]


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


def database_state(log: EventLog, position: int) -> DatabaseState:
    """Return the state, with `behind_seconds` for a position. Blocking. Raises DatabaseAway."""
    partitions = existing_partitions(log)
    rows = log.rows(QUERY, {"leases": list(map(scheduler_lease, partitions)), "position": position})
    writable, end, behind_seconds, append_hangs, *_ = rows[0]
    holders = (LeaseHolder(*lease) if lease[0] is not None else None for _, _, _, _, *lease in rows)
    schedulers = dict(zip((identity.name for identity in partitions), holders, strict=True))
    return DatabaseState(writable, end, max(0.0, behind_seconds), append_hangs, schedulers)
