"""Power settings of systems, beside the log, whose events say only that they changed. Blocking."""

from __future__ import annotations

from pathlib import Path

from domain.system_admin.power import PowerSettings
from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("power.sql"))


def power_settings_of(log: EventLog, fqdn: str) -> PowerSettings | None:
    """Return the present settings of a system, None without any. An append stores them (`PowerChange`)."""
    return next((PowerSettings(*row) for row in log.rows(SQL["settings_of"], (fqdn,))), None)
