"""The turn to read LDAP, and the result of the last sync, beside the log. Each method blocks."""

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
HOLD_SECONDS: Final = 600.0
"""After this time another process may sync, although the last one has not ended its turn."""


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


class LdapTurns:
    """The turns of syncs, each with an id of its own. The methods raise DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def take(self, *, is_asked: bool) -> str | None:
        """Take the turn if it is due, or at once if a person asks; None while another sync has it."""
        turn = uuid.uuid4().hex
        params = {"holder": turn, "seconds": HOLD_SECONDS, "is_asked": is_asked}
        return turn if self._log.rows(SQL["take_turn"], params) else None

    def has(self, turn: str) -> bool:
        """Return whether a sync has its turn still, and no other one may begin."""
        return bool(self._log.rows(SQL["has_turn"], {"holder": turn})[0][0])

    def end(self, turn: str, next_seconds: float, fault: str | None, counts: Mapping[str, int]) -> None:
        """Record the result, unless another sync has the turn. The next one is due after `next_seconds`."""
        stored = orjson.dumps(counts).decode()
        params = {"holder": turn, "next_seconds": next_seconds, "fault": fault, "counts": stored}
        self._log.rows(SQL["end_turn"], params)

    def last(self) -> LastSync:
        return LastSync(*self._log.rows(SQL["last_sync"], ())[0])
