"""Password hashes, beside the log, whose events select the valid one (docs/decisions/0013). Blocking."""

from __future__ import annotations

from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("passwords.sql"))


def store_hash(log: EventLog, password_id: str, user: str, hashed: str) -> None:
    """Store a hash. Call it before the event that makes it valid, or a failure could lock the user out."""
    log.rows(SQL["store"], (password_id, user, hashed))


def hash_of(log: EventLog, password_id: str, user: str) -> str | None:
    """Return a hash, or None if it is not valid any more."""
    rows = log.rows(SQL["hash_of"], (password_id, user))
    return next((str(hashed) for (hashed,) in rows), None)


def delete_stale_hashes(log: EventLog, user: str) -> None:
    """Delete a user's hashes that are no longer valid, and old ones that never became valid."""
    log.rows(SQL["delete_stale"], (user,))
