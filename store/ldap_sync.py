"""The lease to sync with LDAP, and the result of the last sync, beside the log. Each method blocks."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("ldap_sync.sql"))
LEASE_SECONDS: Final = 600.0
"""After this time another process may sync, although the last one has not released the lease."""


class LastSync(NamedTuple):
    """The last sync that ended. `fault` says why it changed nothing, None after a success.

    `counts` are the changes of the last success, `seconds_ago` its age; None before the first.
    """

    is_running: bool
    finished_at: datetime | None
    succeeded_at: datetime | None
    fault: str | None
    counts: Mapping[str, int]
    seconds_ago: float | None


def users_with_secrets(log: EventLog, users: Sequence[str]) -> list[str]:
    """Return those of the users who have the hash of a password, or a webhook, beside the log. Blocking."""
    return [str(user) for (user,) in log.rows(SQL["users_with_secrets"], {"users": list(users)})]


class LdapSyncLease:
    """The lease that each sync needs. Its holder is one sync, by an id. The methods raise DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def acquire(self, *, is_asked: bool) -> str | None:
        """Return the id of a new holder, None while another sync has the lease.

        Unless a person asks, also None before the next sync is due.
        """
        holder = uuid.uuid4().hex
        params = {"holder": holder, "seconds": LEASE_SECONDS, "is_asked": is_asked}
        return holder if self._log.rows(SQL["acquire_ldap_sync"], params) else None

    def is_held(self, holder: str) -> bool:
        """Return whether a sync still holds the lease, so that no other one may begin."""
        return bool(self._log.rows(SQL["is_ldap_sync_held"], {"holder": holder})[0][0])

    def release(self, holder: str, next_seconds: float, fault: str | None, counts: Mapping[str, int]) -> None:
        """Record the result, unless another sync has the lease. The next one is due after `next_seconds`."""
        stored = orjson.dumps(counts).decode()
        params = {"holder": holder, "next_seconds": next_seconds, "fault": fault, "counts": stored}
        self._log.rows(SQL["release_ldap_sync"], params)

    def last(self) -> LastSync:
        return LastSync(*self._log.rows(SQL["last_sync"], ())[0])
