"""Addresses of clients, beside the log by the command id of their requests. Blocking; raises DatabaseAway.

An append stores the address of its request in the same statement (`log.sql`). Addresses are kept for a number
of `days`; with 0 none is shown, and all are deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from domain.events import Recorded
from store.event_log import EventLog
from store.sql import SQL

# Few rows at a time, so that no statement lasts long.
DELETED_AT_ONCE: Final = 1_000


def addresses_of(log: EventLog, events: Iterable[Recorded], days: int) -> dict[int, str]:
    """Return the end of a commit -> the address from which it was requested, of those that are kept."""
    commits = {recorded.commit_end: recorded.recorded_at for recorded in events}
    if not days or not commits:
        return {}
    params = {"ends": list(commits), "moments": list(commits.values()), "days": days}
    return dict(log.rows(SQL["addresses_of"], params))


def delete_old_addresses(log: EventLog, days: int) -> int:
    """Delete the oldest addresses that are no longer kept; return how many, at most DELETED_AT_ONCE."""
    return len(log.rows(SQL["delete_addresses"], {"days": days, "limit": DELETED_AT_ONCE}))
