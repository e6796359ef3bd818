"""Last contacts of lab controllers: a table beside the log, because a contact is no event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from store.event_log import EventLog
from store.sql import SQL

# Minimum interval of stored contacts of a lab controller: the stored one is at most this much too old.
GRAIN_SECONDS: Final = 5.0


@dataclass(frozen=True)
class LastContacts:
    """The time of the database, and the last contact of each lab controller by that clock."""

    now: datetime
    last: dict[str, datetime]


class Contacts:
    """The table of last contacts. Each method that queries the database raises DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._stored_at: dict[str, float] = {}

    def must_store(self, lab_controller: str, monotonic_seconds: float) -> bool:
        """Return whether to store this contact: at most one per `GRAIN_SECONDS`. Not thread-safe."""
        stored = self._stored_at.get(lab_controller)
        if stored is not None and monotonic_seconds - stored < GRAIN_SECONDS:
            return False
        self._stored_at[lab_controller] = monotonic_seconds
        return True

    def store(self, lab_controller: str) -> None:
        """Store a contact with the present time of the database. Blocking."""
        self._log.rows(SQL["heard"], (lab_controller,))

    def last_heard(self) -> dict[str, datetime]:
        """Return lab controller -> last contact, if it had any. Blocking."""
        return self.last_contacts().last

    def last_contacts(self) -> LastContacts:
        """Return all last contacts with the time of the database. Blocking."""
        rows = self._log.rows(SQL["last_heard"], ())
        (now, *_), *_ = rows
        return LastContacts(now, {name: last for _, name, last in rows if name is not None})
