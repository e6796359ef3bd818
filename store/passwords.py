"""Hashes of passwords: a table beside the log, since who reads the log could guess at them for ever.

Which of them counts is said by the log (docs/decisions/0013). Each call blocks, and raises DatabaseAway while
the database is.
"""

from __future__ import annotations

from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("passwords.sql"))


def keep_hash(log: EventLog, password_id: str, user: str, hashed: str) -> None:
    """Before the event that makes it count: one that counts and has no hash would lock its user out."""
    log.rows(SQL["keep"], (password_id, user, hashed))


def hash_of(log: EventLog, password_id: str, user: str) -> str | None:
    """None once it does not count any more."""
    rows = log.rows(SQL["hash_of"], (password_id, user))
    return next((str(hashed) for (hashed,) in rows), None)


def forget_hashes(log: EventLog, user: str) -> None:
    """Delete the hashes that no longer count by the log, and old ones that never counted."""
    log.rows(SQL["forget"], (user,))
