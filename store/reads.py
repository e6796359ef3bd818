"""The append-only record of auditors' reads (docs/decisions/0014). Blocking; raises DatabaseAway."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("reads.sql"))
# An id after those of all reads.
AFTER_ALL: Final = 2**63 - 1


@dataclass(frozen=True)
class AuditedRead:
    """A read, with its query string. A stream begins after `last_event_id`, else where the query says."""

    user: str
    role: str
    token_id: str
    method: str
    path: str
    query: str
    request_id: str
    is_stream: bool = False
    last_event_id: str | None = None


@dataclass(frozen=True)
class StoredRead:
    read_id: int
    recorded_at: datetime
    read: AuditedRead


def record(log: EventLog, read: AuditedRead) -> int:
    """Record a read before its answer and return the id; twice after a dead session, but never lost."""
    ((read_id,),) = log.rows(SQL["record"], astuple(read))
    return int(read_id)


def select(
    log: EventLog,
    after: int,
    limit: int,
    user: str | None = None,
    *,
    before: int | None = None,
    until: datetime | None = None,
    newest_first: bool = False,
) -> list[StoredRead]:
    """Return the reads with an id between `after` and `before`, of one user or of all, oldest first.

    Those after `until` are left out one by one: no index has the times.
    """
    query = SQL["select"] if user is None else SQL["select_of_user"]
    if newest_first:
        query = query.replace(b" ASC", b" DESC")
    params = {
        "after": after,
        "before": AFTER_ALL if before is None else before,
        "until": until,
        "limit": limit,
        "user": user,
    }
    rows = log.rows(query, params)
    return [StoredRead(read_id, recorded_at, AuditedRead(*read)) for read_id, recorded_at, *read in rows]
