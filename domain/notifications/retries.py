"""Retries of messages: pauses that grow, until the message is given up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from domain.notifications.messages import MAX_AGE

SENT, FAILED, GIVEN_UP, DROPPED = "sent", "failed", "given-up", "dropped"
"""The outcomes of attempts: a failed one is repeated. A message is dropped if its recipient is gone."""

WAITING: Final = "waiting"
STATES: Final = (WAITING, SENT, GIVEN_UP, DROPPED)
"""The states of messages."""

FIRST_PAUSE_SECONDS: Final = 1.0
MAX_PAUSE_SECONDS: Final = 3_600.0


def pause_seconds(attempts: int) -> float:
    """Return the pause after that many failed attempts: it doubles up to an hour."""
    return float(min(FIRST_PAUSE_SECONDS * 2 ** min(attempts - 1, 20), MAX_PAUSE_SECONDS))


def next_attempt(created_at: datetime, now: datetime, attempts: int) -> datetime | None:
    """Return when a message is tried again after failed attempts, None if it is given up."""
    retry = now + timedelta(seconds=pause_seconds(attempts))
    return retry if retry <= created_at + MAX_AGE else None
