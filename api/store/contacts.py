"""When each lab controller was last heard: a table beside the log, since a contact is no event."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from api.store.event_log import EventLog
from api.store.sql import SQL

# What is written is at most this much older than the truth.
GRAIN: Final = timedelta(seconds=5)


class Contacts:
    """Each call that asks the database raises DatabaseAway while it is."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._written: dict[str, datetime] = {}

    def is_news(self, lab_controller: str, now: datetime) -> bool:
        """Whether a contact at this time is worth writing down; asks nobody."""
        written = self._written.get(lab_controller)
        return written is None or now - written >= GRAIN

    def heard(self, lab_controller: str, now: datetime) -> None:
        """Keep that it was heard. Blocking."""
        # Before it is written: of many requests at once one writes.
        self._written[lab_controller] = now
        self._log.rows(SQL["heard"], (lab_controller, now))

    def last_heard(self) -> dict[str, datetime]:
        """By lab controller, some seconds early at most; one never heard is missing. Blocking."""
        return dict(self._log.rows(SQL["last_heard"], ()))
