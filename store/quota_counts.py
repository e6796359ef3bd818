"""The counts for quotas in the database: bytes of log by actor and day, unfinished recipes by owner.

The statement that appends changes them (`append` in log.sql). Each call blocks, and raises DatabaseAway while
the database is away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from store.event_log import EventLog
from store.sql import SQL


@dataclass(frozen=True)
class DailyLogUsage:
    """The number of events and bytes that an actor appended on one day (UTC)."""

    day: date
    actor: str
    events: int
    bytes: int


def daily_log_usage(log: EventLog, since: date, limit: int, actor: str | None = None) -> list[DailyLogUsage]:
    """Return the counts of one actor, or of all, since a day, sorted by day and bytes, highest first."""
    asked = {"since": since, "actor": actor, "limit": limit}
    return [DailyLogUsage(*row) for row in log.rows(SQL["written"], asked)]


def unfinished_count(log: EventLog, owner: str) -> int:
    """Return how many unfinished recipes a user has."""
    return next((int(recipes) for (recipes,) in log.rows(SQL["unfinished_of"], (owner,))), 0)
