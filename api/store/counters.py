"""What processes count, in one table for whoever shows it: nothing of it is history, none of it an event."""

from __future__ import annotations

from collections.abc import Mapping

from api.store.event_log import EventLog
from api.store.sql import SQL


class Counters:
    """Each call raises DatabaseAway while the database is."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._shown: dict[str, dict[str, int]] = {}

    def show(self, process: str, values: Mapping[str, int]) -> None:
        """From now on these are its counters. Blocking; writes only what is new."""
        if self._shown.get(process) == values:
            return
        self._log.rows(SQL["show_counters"], (process, list(values), list(values.values())))
        self._shown[process] = dict(values)
