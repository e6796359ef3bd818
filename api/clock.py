"""The clock of the HTTP API, and the text form of times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]


def rfc3339(moment: datetime) -> str:
    """Return a UTC time in RFC 3339 form, as in events and responses."""
    return moment.isoformat().replace("+00:00", "Z")
