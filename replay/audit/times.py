"""Times of records, which are texts in JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def time_of(text: Any) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else text
