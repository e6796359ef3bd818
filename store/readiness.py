"""What the database says of how the service does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from postgres.named_sql import named_queries
from store.event_log import EventLog

QUERY = named_queries(Path(__file__).with_name("readiness.sql"))["readiness"]


@dataclass(frozen=True)
class Holder:
    """Who has the right to decide, and when it last said so."""

    name: str
    renewed_seconds_ago: float
    lease_seconds: float

    @property
    def gets_on(self) -> bool:
        return self.renewed_seconds_ago <= self.lease_seconds


@dataclass(frozen=True)
class Standing:
    """`behind_seconds`: how long the event after the position asked about has been there; 0 without one.
    `append_hangs`: one append has held up all others for four seconds.
    """

    writable: bool
    log_end: int
    behind_seconds: float
    append_hangs: bool
    holder: Holder | None

    @property
    def holder_gets_on(self) -> bool:
        return self.holder is not None and self.holder.gets_on


def standing(log: EventLog, lease: str, position: int) -> Standing:
    """Blocking; raises DatabaseAway."""
    (found,) = log.rows(QUERY, {"lease": lease, "position": position})
    writable, end, behind_seconds, append_hangs, *held = found
    holder = Holder(*held) if held[0] is not None else None
    return Standing(writable, end, max(0.0, behind_seconds), append_hangs, holder)
