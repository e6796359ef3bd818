"""When each lab controller was last heard: a table beside the log, since a contact is no event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from store.event_log import EventLog
from store.sql import SQL

# A stored contact is at most this much older than the last one.
GRAIN_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Heard:
    """The time of the database, and when each lab controller was last heard by that clock."""

    now: datetime
    last: dict[str, datetime]


class Contacts:
    """The database stamps each contact. Each call that asks it raises DatabaseAway while it is away."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._stored_at: dict[str, float] = {}

    def is_due(self, lab_controller: str, monotonic_seconds: float) -> bool:
        """Return whether to store a contact at this time: of many at once only the first. For one thread."""
        stored = self._stored_at.get(lab_controller)
        if stored is not None and monotonic_seconds - stored < GRAIN_SECONDS:
            return False
        self._stored_at[lab_controller] = monotonic_seconds
        return True

    def heard(self, lab_controller: str) -> None:
        """Store a contact at the present time of the database. Blocking."""
        self._log.rows(SQL["heard"], (lab_controller,))

    def last_heard(self) -> dict[str, datetime]:
        """By lab controller, some seconds early at most; one never heard is missing. Blocking."""
        return self.heard_by_clock().last

    def heard_by_clock(self) -> Heard:
        """Return all last contacts with the time of the database. Blocking."""
        rows = self._log.rows(SQL["last_heard"], ())
        return Heard(rows[0][0], {name: last for _, name, last in rows if name is not None})
