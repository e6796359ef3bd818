"""The person, the time and the reason of a change, as JSON documents of the read models have them."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.events import Recorded


def made_by(recorded: Recorded, reason: str, at: datetime) -> dict[str, str]:
    """Return the person, the time and the reason of a change."""
    return {"by": recorded.stamp.actor, "at": shown_time(at), "reason": reason}


def shown_time(at: datetime) -> str:
    """Return a time in UTC with microseconds, which equal times always have in common."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
