"""What was read by those whose reads are recorded: a table as append-only as the log (docs/decisions/0014).

Each call blocks, and raises DatabaseAway while the database is.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("reads.sql"))


@dataclass(frozen=True)
class Read:
    """Who asked for what, and by which token; `query` is what stands behind the question mark.

    A stream goes on after `last_event_id`, whatever the query says; without one, after what that says.
    """

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
class RecordedRead:
    read_id: int
    recorded_at: datetime
    read: Read


def record(log: EventLog, read: Read) -> int:
    """The id of the record, which is kept when this returns: only then may the read be answered.

    One whose session dies meanwhile may be recorded twice, never not at all.
    """
    ((read_id,),) = log.rows(SQL["record"], astuple(read))
    return int(read_id)


def select(log: EventLog, after: int, limit: int, user: str | None = None) -> list[RecordedRead]:
    """In the order in which they were recorded, those after an id; of one user, or of all."""
    query = SQL["select"] if user is None else SQL["select_of_user"]
    rows = log.rows(query, {"after": after, "limit": limit, "user": user})
    return [RecordedRead(read_id, recorded_at, Read(*read)) for read_id, recorded_at, *read in rows]
