"""The clock of the HTTP API, and times as text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]


def written(moment: datetime) -> str:
    """Return a time as text, as in events and answers."""
    return moment.isoformat().replace("+00:00", "Z")
