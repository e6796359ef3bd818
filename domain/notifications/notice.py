"""A notice: an event, or an end that is near, that people are notified about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Notice:
    """A notice of a kind about a subject, which follows from the event at `position`.

    `recorded_at` is the time of that event, `time` when it happened, or when it was due. `people` are the
    names of users whom it concerns, None if it concerns everybody who has chosen its kind. A user concerned
    must have been registered up to the position `as_of`, so that a later user of the same name gets nothing.
    `addresses` are mail addresses that a job names.
    """

    kind: str
    position: int
    recorded_at: datetime
    time: datetime
    subject: str
    title: str
    data: Mapping[str, Any]
    people: Sequence[str] | None
    as_of: int
    addresses: Sequence[str] = field(default=())
