"""The state of the service as seen by the database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

QUERY = named_queries(Path(__file__).with_name("readiness.sql"))["readiness"]


@dataclass(frozen=True)
class LeaseHolder:
    """The holder of the lease, and the time since its last renewal."""

    name: str
    renewed_seconds_ago: float
    lease_seconds: float

    @property
    def is_live(self) -> bool:
        return self.renewed_seconds_ago <= self.lease_seconds


@dataclass(frozen=True)
class DatabaseState:
    """Database, log, lease; `behind_seconds`: age of the next event or 0; `append_hangs`: 4 s blocked."""

    writable: bool
    log_end: int
    behind_seconds: float
    append_hangs: bool
    holder: LeaseHolder | None

    @property
    def has_live_holder(self) -> bool:
        return self.holder is not None and self.holder.is_live


def database_state(log: EventLog, lease: str, position: int) -> DatabaseState:
    """Return the state, with `behind_seconds` for a position. Blocking. Raises DatabaseAway."""
    (row,) = log.rows(QUERY, {"lease": lease, "position": position})
    writable, end, behind_seconds, append_hangs, *lease_row = row
    holder = LeaseHolder(*lease_row) if lease_row[0] is not None else None
    return DatabaseState(writable, end, max(0.0, behind_seconds), append_hangs, holder)
