"""The text form of times, in events, responses and messages."""

from __future__ import annotations

from datetime import datetime


def rfc3339(moment: datetime) -> str:
    """Return a UTC time in the form of RFC 3339, with `Z` for UTC."""
    return moment.isoformat().replace("+00:00", "Z")
