"""The counts for quotas: bytes of log by actor and day, and unfinished recipes by owner.

The statement `append` of log.sql updates them. Each function blocks and raises DatabaseAway.
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
    """Return the usage of one actor, or of all, since a day, sorted by day and bytes, highest first."""
    params = {"since": since, "actor": actor, "limit": limit}
    return [DailyLogUsage(*row) for row in log.rows(SQL["written"], params)]


def unfinished_count(log: EventLog, owner: str) -> int:
    """Return the number of unfinished recipes of a user."""
    return next((int(count) for (count,) in log.rows(SQL["unfinished_of"], (owner,))), 0)
